"""The board document: the scripts of the pages read no field that its schema does not have."""

import json
import re
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter

from audiocapbench.report.leaderboard.board import Ranking
from audiocapbench.report.page.document import (
    BoardDocument,
    Cell,
    PairComparison,
    ScoreDifference,
    ScorerEntry,
    ScorerGroup,
    ServedBoard,
    SiteDocument,
)
from audiocapbench.report.page.html import SERVED_SCRIPTS, write_report
from audiocapbench.report.site.pages import write_site
from audiocapbench.report.site.submission import check_submissions, make_submissions
from audiocapbench.store import Store
from browser import launched
from four_models import put_models
from needs import needs, needs_program
from report_pages import gathered_runs
from showing import showing

SCRIPTS = {
    name: files("audiocapbench.report").joinpath("templates", name).read_text("utf-8")
    for name in (*SERVED_SCRIPTS, "embedded.js")
}
# What a variable of this name holds in every script.
HOLDS: dict[str, type[Any]] = {
    "board": BoardDocument,
    "whole": BoardDocument,
    "ranking": Ranking,
    "scorer": ScorerEntry,
    "about": ScorerEntry,
    "cell": Cell,
    "group": ScorerGroup,
    "pair": PairComparison,
    "tested": ScoreDifference,
}
# What a script makes itself, and elements of the page.
OWN = {
    "board.part",
    "board.rows",
    "board.winner",
    "cell.append",
    "cell.scope",
    "cell.closest",
    "cell.tagName",
    "group.append",
}
OWN |= {"cell.setAttribute", "group.addEventListener"}
TABS = ("leaderboard", "matrix", "compare", "explore", "trials", "made")
STEP = re.compile(r"\??\.(\w+)|\?\.\[|\[")


def shape(kind: type[Any]) -> Any:
    """What the schema says may be read: fields by name, ``[]`` of a list, ``*`` of any name."""
    whole = TypeAdapter(kind).json_schema(mode="serialization")

    def known(node: dict[str, Any]) -> Any:
        if "$ref" in node:
            return known(whole["$defs"][node["$ref"].rpartition("/")[2]])
        if "anyOf" in node:
            return next(filter(None, map(known, node["anyOf"])), None)
        if "properties" in node:
            return {name: known(one) for name, one in node["properties"].items()}
        if "items" in node:
            return {"[]": known(node["items"])}
        inner = node.get("additionalProperties")
        return {"*": known(inner)} if isinstance(inner, dict) else None

    return known(whole)


@cache
def held(variable: str) -> Any:
    """What may be read of a variable of a script; ``board`` has what the reader chose to see."""
    chosen = {"estimates": {"[]": {"[]": shape(Cell)}}, "ranking": shape(Ranking), "verdict": None}
    return shape(HOLDS[variable]) | (chosen if variable == "board" else {})


def read_paths(text: str, name: str) -> Iterator[list[str]]:
    """What is read of a variable: fields, and ``[]`` for a place of a list."""
    for found in re.finditer(rf"(?<![\w.]){name}(?=\??\.|\[)", text):
        path, at = [], found.end()
        while step := STEP.match(text, at):
            at = step.end()
            if step[1] is not None:
                path.append(step[1])
                continue
            depth = 1
            while depth:
                depth += {"[": 1, "]": -1}.get(text[at], 0)
                at += 1
            path.append("[]")
        yield path


def unknown_field(node: Any, path: list[str]) -> str | None:
    """The first field of a path that the schema does not have."""
    for place, step in enumerate(path):
        if node is None or (step not in node and (step == "[]" or "[]" in node or "*" in node)):
            return None  # What every list, text and number has, such as its length.
        if step not in node:
            return ".".join(path[: place + 1])
        node = node[step]
    return None


@pytest.mark.parametrize("name", SCRIPTS)
def test_every_field_that_a_script_reads_of_the_document_is_in_its_schema(name: str) -> None:
    wrong = {
        f"{variable}.{field}"
        for variable in HOLDS
        for path in read_paths(SCRIPTS[name], variable)
        if (field := unknown_field(held(variable), path)) is not None
    }
    assert wrong <= OWN


def test_a_field_that_is_not_in_the_schema_is_found() -> None:
    text = "const one = board.models[place(board.boards[0])]?.labell; cell.value.toFixed(2);"
    paths = list(read_paths(text, "board"))
    assert paths == [["models", "[]", "labell"], ["boards", "[]"]]
    assert unknown_field(shape(BoardDocument), paths[0]) == "models.[].labell"
    assert unknown_field(shape(Cell), next(read_paths(text, "cell"))) is None


WATCH = """(() => {
window.unknown = [];
const watched = (value, shape, path) => {
  if (value === null || typeof value !== "object" || !shape) return value;
  return new Proxy(value, {
    get(target, key) {
      const inner = target[key];
      if (typeof key === "symbol" || ["toJSON", "then"].includes(key)) return inner;
      const name = "[]" in shape ? "[]" : "*" in shape ? "*" : key;
      if (name === "[]" && !/^[0-9]+$/.test(key)) return inner;
      if (!(name in shape)) window.unknown.push(`${path}.${key}`);
      return watched(inner, shape[name], `${path}.${name}`);
    },
  });
};
const parse = JSON.parse;
JSON.parse = (...given) => {
  const found = parse(...given);
  if (found?.boards) found.boards = watched(found.boards, SITE.boards, "boards");
  if (found?.board) found.board = watched(found.board, BOARD, "board");
  return found;
};
const json = Response.prototype.json;
Response.prototype.json = async function () {
  const found = await json.call(this);
  return found && "benchmarks" in found ? watched(found, SERVED, "served") : found;
};
})();"""
for word, kind in (("SITE", SiteDocument), ("BOARD", BoardDocument), ("SERVED", ServedBoard)):
    WATCH = WATCH.replace(word, json.dumps(shape(kind)))


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with Store.open(str(tmp_path_factory.mktemp("watched") / "runs.db")) as store:
        put_models(store)
        yield store


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    needs("playwright")
    needs_program("chromium")
    yield from launched()


def strange_fields(browser: Any, address: str, *tabs: str) -> list[str]:
    """What a page reads of the document, tab by tab and sorted anew, that is not in its schema."""
    page = browser.new_context().new_page()
    page.add_init_script(WATCH)
    found = []
    for tab in tabs:
        page.goto("about:blank")
        page.goto(f"{address}#{tab}")
        page.wait_for_selector(f"body[data-shown={tab}]", state="attached")
        for column in range(min(3, page.locator(f"#{tab} button.sort").count())):
            page.locator(f"#{tab} button.sort").nth(column).click()
        found += page.evaluate("window.unknown")
    page.context.close()
    return sorted(set(found))


@pytest.mark.slow
def test_pages_read_nothing_of_the_document_that_is_not_in_its_schema(
    browser: Any, store: Store, tmp_path: Path
) -> None:
    runs = [store.run(one.id) for one in store.runs()]
    path = tmp_path / "page.html"
    write_report(store, gathered_runs(store, runs), path, title="Four")
    assert strange_fields(browser, path.as_uri(), *TABS) == []
    with showing(store) as shown:
        shown.board()
        assert strange_fields(browser, f"{shown.address}/", *TABS) == []
    ids = [one.id for one in runs]
    made = list(zip(map(str, ids), make_submissions(store, *ids), strict=True))
    with Store.open(str(tmp_path / "checked.db")) as checking:
        checked = check_submissions(checking, made)
        write_site(checking, checked, tmp_path / "site", "Site")
    index = (tmp_path / "site" / "index.html").as_uri()
    assert strange_fields(browser, index, "leaderboard", "made") == []


def test_what_watches_the_pages_sees_a_strange_field(
    browser: Any, store: Store, tmp_path: Path
) -> None:
    runs = [store.run(one.id) for one in store.runs()]
    path = tmp_path / "page.html"
    write_report(store, gathered_runs(store, runs), path, title="Four")
    page = browser.new_context().new_page()
    page.add_init_script(WATCH)
    page.goto(path.as_uri())
    page.evaluate('JSON.parse(\'{"board": {"models": [{}]}}\').board.models[0].labell')
    assert "board.models.[].labell" in page.evaluate("window.unknown")
    page.context.close()
