"""Every command of the README, and of its pages on models and metrics, works as printed."""

import json
import re
from pathlib import Path

import pytest

from printed import ROOT, blocks, commands, install, lay_out, page, run

README, MODELS = page("README.md"), page("docs/models.md")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder as the README's reader has it: my-clips, and the model of the page on them."""
    (tmp_path / "mine.py").write_text(blocks(MODELS, "python")[0])
    return lay_out(tmp_path, blocks(page("docs/benchmarks/your-own.md"), "json")[0])


def test_it_is_short_and_has_three_doors_of_three_commands() -> None:
    assert len(README.split()) <= 700
    doors = [one for one in README.split("\n## ") if one.startswith("I ")]
    assert [len(commands(one, remote=False)) for one in doors] == [3, 3, 3]


def test_what_it_promises_is_not_more_than_tests_hold() -> None:
    for text in (README, page("docs/index.md")):
        assert not re.findall(r"\b(?:every|never|whatever|always)\b", text, flags=re.IGNORECASE)


def test_the_offline_commands_run_one_after_another(place: Path) -> None:
    local = commands(README, remote=False)
    for command in [*local, *commands(MODELS, remote=False)]:
        done = run(place, command)
        assert done.returncode == 0, f"{command}: {done.stderr}"
        assert done.stdout.strip()


def test_the_extras_that_it_installs_exist() -> None:
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    named = re.findall(r"\.\[([a-z,]+)\]", MODELS + page("docs/install.md"))
    named += re.findall(r"\| `([a-z]+)`[^|`]* \| (?:none|`[A-Z])", MODELS)
    assert len(named) >= 3
    for extra in ",".join(named).split(","):
        assert extra in project["optional-dependencies"], extra


def test_the_table_of_providers_says_what_their_records_say() -> None:
    from audiocapbench.models.registry import built_in_providers

    table = MODELS.split("| model | extra | key |")[1].split("\n\n")[0]
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

    table = page("docs/metrics.md").split("| metrics | the same")[1].split("\n\n")[0]
    names = set(re.findall(r"`([a-z_0-9]+)`", table.replace("`code`, `paper`, `published`", "")))
    names -= {"sbert", "coco", "local", "4"}
    assert {"meteor", "cider_d", "date", "spice"} <= names
    assert names <= set(METRICS)
    assert "| over 30 |" in README
    assert len(METRICS) > 30


@pytest.mark.parametrize("base", ["SimpleModel", "object"])
def test_the_model_plug_in_works(place: Path, base: str) -> None:
    module = blocks(MODELS, "python")[0]
    if base == "object":
        # All that SimpleModel has, written out, works as well.
        own = "    parameters, cacheable, concurrency = {}, True, 4\n\n"
        own += "    def __init__(self, name: str) -> None:\n        self.name = name\n\n"
        module = module.replace("Mine(SimpleModel):\n", f"Mine:\n{own}")
    install(place, module, blocks(page("docs/extending.md"), "toml")[0].partition("ours")[0])
    done = run(place, "audiocapbench run my-clips --model mine/anything --json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["runs"][0]["answered"] == 2


def test_the_table_is_real_output(place: Path) -> None:
    done = run(place, "audiocapbench demo --store demo.db")
    shown = [line.rstrip() for line in done.stdout.splitlines() if line.strip()]
    printed = [
        line.rstrip()
        for line in blocks(page("docs/index.md"), "text")[0].splitlines()
        if line.strip()
    ]
    assert shown[: len(printed)] == printed
