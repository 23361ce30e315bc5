"""Every command and example in the README works as printed, real models against local servers."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from printed import ROOT, blocks, commands, install, lay_out, local_providers, page, run

README = page("README.md")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder as the README's reader has it: my-clips with the lines that it prints, mine.py."""
    (tmp_path / "mine.py").write_text(blocks(README, "python")[0])
    return lay_out(tmp_path, blocks(README, "json")[0])


def test_the_offline_commands_run_one_after_another(place: Path) -> None:
    local = commands(README, remote=False)
    assert len(local) >= 6
    for command in local:
        done = run(place, command)
        assert done.returncode == 0, f"{command}: {done.stderr}"
        assert done.stdout.strip()


@pytest.fixture
def providers(place: Path) -> Iterator[dict[str, str]]:
    with local_providers(place) as settings:
        yield settings


def test_a_real_model_is_built_for_run_and_judged(place: Path, providers: dict[str, str]) -> None:
    remote = commands(README, remote=True)
    assert len(remote) == 5
    for command in remote:
        # The published ID lists are on the internet; the tests' own stand in for them.
        lists = " --ids-dir ids" if " build " in command else ""
        done = run(place, command + lists, **providers)
        assert done.returncode == 0, f"{command}: {done.stderr}"
    first = json.loads(run(place, "audiocapbench runs --json --store real.db").stdout)["runs"][0]
    assert first["model"] == "openai/gpt-4o-audio-preview"
    assert first["statuses"] == {"ok": first["sample_count"]}


def test_the_extras_that_it_installs_exist() -> None:
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    named = re.findall(r"\.\[([a-z,]+)\]", README)
    named += re.findall(r"\| `([a-z]+)`[^|`]* \| (?:none|`[A-Z])", README)
    assert len(named) >= 3
    for extra in ",".join(named).split(","):
        assert extra in project["optional-dependencies"], extra


def test_the_table_of_providers_says_what_their_records_say() -> None:
    from audiocapbench.models.registry import built_in_providers

    table = README.split("| model | extra | key |")[1].split("\n\n")[0]
    rows = [line.strip("| ").split(" | ") for line in table.splitlines()[2:]]
    records = {name: one for name, one in built_in_providers().items() if one.key_names}
    assert [re.split("[/`]", models)[1] for models, _, _ in rows] == list(records)
    for (models, extra, key), record in zip(rows, records.values(), strict=True):
        assert extra.partition(" for ")[0] == (f"`{record.extra}`" if record.extra else "none")
        assert ("none" in key) == record.key_optional
        named = re.findall(r"`([A-Z_]+)`", key)
        assert named == [record.key_names[0], *record.other_access]
        for model in re.findall(r"`([^`]+)`", models):
            assert model.startswith(f"{record.name}/")


def test_the_make_targets_exist() -> None:
    targets = re.findall(r"make ([a-z-]+)", README)
    assert {"demo", "test", "check", "test-all"} <= set(targets)
    makefile = (ROOT / "Makefile").read_text()
    for target in targets:
        assert re.search(rf"^{target}:", makefile, flags=re.MULTILINE), target


def test_the_metrics_that_it_names_exist() -> None:
    from audiocapbench.metrics import METRICS

    table = README.split("| metrics |")[1].split("\n\n")[0]
    names = set(re.findall(r"`([a-z_0-9]+)`", table.replace("`code`, `paper`, `published`", "")))
    names -= {"sbert", "coco", "local", "4"}
    assert {"meteor", "cider_d", "date", "spice"} <= names
    assert names <= set(METRICS)


@pytest.mark.parametrize("base", ["SimpleModel", "object"])
def test_the_model_plug_in_works(place: Path, base: str) -> None:
    module = blocks(README, "python")[0]
    if base == "object":
        # All that SimpleModel has, written out, works as well.
        own = "    parameters, cacheable, concurrency = {}, True, 4\n\n"
        own += "    def __init__(self, name: str) -> None:\n        self.name = name\n\n"
        module = module.replace("Mine(SimpleModel):\n", f"Mine:\n{own}")
    install(place, module, blocks(README, "toml")[0])
    done = run(place, "audiocapbench run my-clips --model mine/anything --json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["runs"][0]["answered"] == 2


def test_the_library_example_works(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(place)
    exec(compile(blocks(README, "python")[1], "README.md", "exec"), {})
    done = run(place, "audiocapbench runs --store library.db --json")
    assert json.loads(done.stdout)["runs"][0]["model"] == "control/right"


def test_the_table_is_real_output(place: Path) -> None:
    done = run(place, "audiocapbench demo --store demo.db")
    shown = [line.rstrip() for line in done.stdout.splitlines() if line.strip()]
    printed = [line.rstrip() for line in blocks(README, "text")[0].splitlines() if line.strip()]
    assert shown[: len(printed)] == printed
