"""docs/which-metric.md says what is measured, not what was once measured."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location(
        "measure_scorers", ROOT / "tools/measure_scorers.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["metric:cider_d", "metric:rouge_l_coco", "metric:preference", "control:longer"]
)
def test_the_page_has_the_figures_of_today(name: str, tool: ModuleType, shared: Path) -> None:
    row = str(tool.measure(name, *tool.sets(shared)))
    figures = row.rpartition("|")[0].rpartition("|")[0]  # how fast it is depends on the machine
    assert figures in tool.PAGE.read_text(encoding="utf-8")


def test_a_new_table_replaces_the_old_one_alone(tool: ModuleType) -> None:
    page = f"before\n{tool.BEGIN}\nold\n{tool.END}\nafter \\1\n"
    made = tool.refreshed(page, "| new \\g<0> |")
    assert made == f"before\n{tool.BEGIN}\n| new \\g<0> |\n{tool.END}\nafter \\1\n"
