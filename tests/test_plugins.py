"""Plug-ins: which of those that are installed may load."""

from pathlib import Path

import pytest

from audiocapbench.metrics import list_metrics
from audiocapbench.plugins import plugins
from command import run_command
from plugin import environment, install_package

METRIC = """
from audiocapbench import Metric

metric = Metric("ours", "words in common", lambda *given: [])
"""


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A plug-in of the tests, and a stranger's beside it that cannot be imported."""
    folder = tmp_path / "site"
    install_package(folder, "ours", METRIC, metrics="ours = ours:metric")
    stranger = "raise RuntimeError('loaded')"
    install_package(
        folder, "strange", stranger, "Strange_Words", metrics="strange = strange:metric"
    )
    monkeypatch.syspath_prepend(str(folder))
    return tmp_path


@pytest.mark.usefixtures("site")
def test_a_stranger_s_plug_in_is_invisible_to_tests() -> None:
    assert list(plugins("metrics")) == ["ours"]
    assert "strange" not in [one.name for one in list_metrics()]


def test_a_stranger_s_plug_in_is_invisible_to_the_commands_that_tests_start(site: Path) -> None:
    done = run_command("metrics", cwd=site, env=environment(site))
    assert done.returncode == 0, done.stderr
    assert "ours" in done.stdout
    assert "strange" not in done.stdout


@pytest.mark.usefixtures("site")
@pytest.mark.parametrize(
    ("allowed", "names"),
    [
        (None, {"ours", "strange"}),
        ("", set()),
        (" ", set()),
        ("strange-words", {"strange"}),
        ("Strange.Words , nobody", {"strange"}),
        ("test-*,strange*", {"ours", "strange"}),
        ("words", set()),
    ],
)
def test_a_variable_says_whose_plug_ins_may_load(
    allowed: str | None, names: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    if allowed is None:
        monkeypatch.delenv("AUDIOCAPBENCH_PLUGINS")
        assert set(plugins("metrics")) >= names
        return
    monkeypatch.setenv("AUDIOCAPBENCH_PLUGINS", allowed)
    assert set(plugins("metrics")) == names
