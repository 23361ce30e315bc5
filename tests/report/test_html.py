"""The report page as a file: hostile text stays text, every number is there, nothing else runs."""

import base64
import gzip
import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from audiocapbench.data.outcome import Outcome, Reply, Status
from audiocapbench.errors import ReportError
from audiocapbench.report.page import html
from audiocapbench.report.page.html import shown_answer, write_report
from audiocapbench.report.page.report_data import gather, stored_tables
from audiocapbench.store import Store
from folders import write_folder
from made_store import columns, stored_scores
from report_pages import EVIL, gathered_runs, scored_runs, write_hostile_page, write_page


class Page(HTMLParser):
    """Every tag, link and block of a page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.blocks: dict[str, str] = {}
        self._open: str | None = None
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.tags.append((tag, found))
        if tag in ("script", "style"):
            self._open = found.get("id") or found.get("type") or tag

    def handle_endtag(self, tag: str) -> None:
        self._open = None

    def handle_data(self, data: str) -> None:
        if self._open is not None:
            self.blocks[self._open] = self.blocks.get(self._open, "") + data

    def named(self, tag: str) -> list[dict[str, str | None]]:
        return [found for name, found in self.tags if name == tag]


def unpacked(page: Page) -> dict[str, Any]:
    """What the page has inside, read as its script reads it."""
    whole = gzip.decompress(base64.b64decode(page.blocks["data"], validate=True))
    inside: dict[str, Any] = json.loads(whole)
    return inside


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page on which every text is hostile."""
    return write_hostile_page(tmp_path_factory.mktemp("hostile"))


def test_text_from_anywhere_stays_text(hostile: Path) -> None:
    page = Page(hostile)
    kinds = [found.get("type") for found in page.named("script")]
    assert kinds == ["application/octet-stream", "module"]
    assert page.named("img") == []
    assert not any(name.startswith("on") for _, found in page.tags for name in found)
    assert "{{ 7*7 }}" in hostile.read_text(encoding="utf-8")


def test_only_the_script_and_style_of_the_package_may_run(tmp_path: Path) -> None:
    write_folder(tmp_path, 2)
    page = Page(write_page(tmp_path, "control/right"))
    policy = next(
        found["content"] or ""
        for found in page.named("meta")
        if found.get("http-equiv") == "Content-Security-Policy"
    )
    for block, directive in (("module", "script-src"), ("style", "style-src")):
        digest = base64.b64encode(hashlib.sha256(page.blocks[block].encode()).digest()).decode()
        assert f"{directive} 'sha256-{digest}'" in policy
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    links = [found.get("href") or found.get("src") or "#" for _, found in page.tags]
    assert all(link.startswith("#") for link in links)


def test_the_script_never_writes_markup() -> None:
    folder = Path(html.__file__).parents[1] / "templates"
    scripts = sorted(folder.glob("*.js"))
    assert len(scripts) > 10
    for path in scripts:
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(|</", text)


def test_every_answer_score_and_status_is_in_the_data(tmp_path: Path) -> None:
    write_folder(tmp_path, 3)
    store, runs = scored_runs(tmp_path, "control/right", "control/empty", judged=True)
    path = tmp_path / "report.html"
    write_report(store, gathered_runs(store, runs), path, title="T", audio="embed")
    page = Page(path)
    inside = unpacked(page)
    board = inside["board"]
    assert (len(board["models"]), len(inside["clips"])) == (2, 3)
    notes = []
    for row, model in enumerate(board["models"]):
        run = next(run for run in runs if run.id == model["run"])
        scores = {one.sample_id: one.value for one in stored_scores(store, run.id)["rouge_l"]}
        number = [one["label"] for one in board["scorers"]].index("rouge_l")
        for clip in inside["clips"]:
            outcome, answer = store.outcomes(run.id)[clip["id"]], clip["answers"][row]
            assert answer["text"] == outcome.reply.text
            assert answer["status"] == str(outcome.reply.status)
            assert answer["scores"][number] == pytest.approx(scores[clip["id"]], abs=1e-6)
            assert len(page.blocks[f"sound-{clip['sound']}"]) > 1000
            notes.append(answer["note"])
    assert any("not scored against itself" in text for text in notes)
    assert "rouge_l|variant:" in path.read_text(encoding="utf-8")


def test_the_same_runs_give_the_same_page(tmp_path: Path) -> None:
    write_folder(tmp_path, 2)
    first = write_page(tmp_path, "control/right").read_bytes()
    assert write_page(tmp_path, "control/right").read_bytes() == first


def test_a_clip_that_changed_or_is_gone_is_not_played(tmp_path: Path) -> None:
    write_folder(tmp_path, 3)
    store, runs = scored_runs(tmp_path, "control/right")
    (tmp_path / "clips" / "0.wav").unlink()
    (tmp_path / "clips" / "1.wav").write_bytes(b"something else")
    path = tmp_path / "report.html"
    written = write_report(store, gathered_runs(store, runs), path, title="T", audio="link")
    assert written.unheard == 2
    reasons = [one["missing"] for one in unpacked(Page(path))["sounds"]]
    assert reasons == [
        "the file cannot be read (No such file or directory)",
        "the file has changed since the run began",
        "",
    ]


def test_clips_too_large_for_a_page_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_folder(tmp_path, 2)
    monkeypatch.setattr(html, "MOST_EMBEDDED", 1_000)
    with pytest.raises(ReportError, match="--audio link"):
        write_page(tmp_path, "control/right", audio="embed")


def test_a_run_without_any_score_is_refused(tmp_path: Path) -> None:
    write_folder(tmp_path, 2)
    store, runs = scored_runs(tmp_path, "control/right")
    for metric in ("rouge_l", "bleu_1"):
        store.put_scores(runs[0].id, {metric: columns([])})
    with pytest.raises(ReportError, match="has no scores"):
        gathered_runs(store, runs)


def test_a_dataset_that_changed_between_runs_is_refused(tmp_path: Path) -> None:
    write_folder(tmp_path, 2)
    store, runs = scored_runs(tmp_path, "control/right")
    store.close()
    lines = (tmp_path / "metadata.jsonl").read_text().replace("hums on", "whistles")
    (tmp_path / "metadata.jsonl").write_text(lines)
    store, more = scored_runs(tmp_path, "control/wrong")
    with pytest.raises(ReportError, match="the dataset was changed in between"):
        gathered_runs(store, [*runs, *more])


def test_two_runs_of_one_model_are_told_apart(tmp_path: Path) -> None:
    write_folder(tmp_path, 2)
    store, runs = scored_runs(tmp_path, "control/right")
    again = store.begin_run(
        _same_spec(store, runs[0].id), store.dataset(runs[0].dataset), fresh=True
    )
    gathered = gather(stored_tables(store, [runs[0].id, again.id]))
    labels = {run.label for run in gathered.runs}
    assert labels == {f"control/right (run {runs[0].id})", f"control/right (run {again.id})"}


def _same_spec(store: Store, run_id: int) -> Any:
    from audiocapbench.store import RunSpec

    run = store.run(run_id)
    return RunSpec(
        run.benchmark, run.dataset, run.model, run.parameters, run.contract, run.sample_ids
    )


def test_hostile_names_are_written_out_in_the_overview(hostile: Path) -> None:
    page = hostile.read_text(encoding="utf-8")
    overview = page.split('<script type="application/octet-stream"')[0]
    assert "\u202e" not in overview
    assert EVIL not in overview
    assert overview.count("&lt;/script&gt;") > 10


def test_what_was_heard_of_a_clip_is_a_note_and_no_failure() -> None:
    note = "the mean of its 2 channels loses 60.0 dB; heard by channel 1"
    shown = shown_answer(Outcome("a", Reply("A dog.", Status.OK, note), None, 0.0, 0.0), [], {})
    assert (shown["note"], shown["error"]) == (note, "")
    failed = shown_answer(Outcome("a", Reply("", Status.FAILED, "gone"), None, 0.0, 0.0), [], {})
    assert (failed["note"], failed["error"]) == ("", "gone")
