"""docs/which-metric.md and docs/cheating.md say what is measured, not what was once measured."""

import importlib
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def tool(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(ROOT / "tools")
    return importlib.import_module("measure_scorers")


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["metric:cider_d", "metric:rouge_l_coco", "metric:preference", "control:longer"]
)
def test_the_page_has_the_figures_of_today(name: str, tool: ModuleType, shared: Path) -> None:
    page = tool.PAGE.read_text(encoding="utf-8")
    row = tool.measure(name, *tool.sets(shared))
    for cells in (row.measured[:-1], row.kinds):  # how fast it is depends on the machine
        assert f"| `{name}` | {' | '.join(cells)} |" in page


def test_the_page_has_the_ceiling_of_one_annotator(tool: ModuleType, shared: Path) -> None:
    page = tool.PAGE.read_text(encoding="utf-8")
    for cells in tool.one_person(shared, tool.sets(shared)[0]).values():
        assert f"| one annotator | {' | '.join(cells)} |" in page


@pytest.mark.slow
def test_formatting_costs_what_the_page_says(tool: ModuleType, shared: Path) -> None:
    page, (_, main) = tool.PAGE.read_text(encoding="utf-8"), tool.sets(shared)
    for name in ("metric:rouge_l", "metric:similarity"):
        assert " | ".join([f"`{name}`", *tool.blind(name), *tool.formatted(name, main)]) in page


def test_blind_scores_on_the_page_are_those_that_are_stored(tool: ModuleType) -> None:
    attacks = importlib.import_module("measure_attacks")
    assert "\n".join(attacks.searched()) in attacks.PAGE.read_text(encoding="utf-8")
    page = tool.PAGE.read_text(encoding="utf-8")
    names = [name for name in tool.SCORERS if set(tool.blind(name)) != {"–"}]
    assert len(names) > 10
    for name in names:
        assert f"| `{name}` | {' | '.join(tool.blind(name))} | " in page


def test_a_new_row_replaces_the_same_scorers_alone(tool: ModuleType) -> None:
    begin, end = "<!-- measured: begin -->", "<!-- measured: end -->"
    old = "| `metric:a` | 60.0 |\n| `metric:b` | 50.0 \\1 |"
    page = f"before\n{begin}\nhead\n|---|\n{old}\n{end}\nafter \\1\n"
    made = tool.refreshed(page, "measured", {"metric:b": ["70.5 \\g<0>"]})
    assert made.endswith(f"| `metric:b` | 70.5 \\g<0> |\n| `metric:a` | 60.0 |\n{end}\nafter \\1\n")
