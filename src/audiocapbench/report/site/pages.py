"""The pages of a leaderboard site, which ask for nothing: one of all models, and one of each."""

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from audiocapbench.errors import ReportError
from audiocapbench.files import write_file
from audiocapbench.grouping import grouped
from audiocapbench.report.page.board import add_ranking, board_document, cell
from audiocapbench.report.page.document import BoardDocument, CategoryView, Cell, SiteDocument
from audiocapbench.report.page.html import SCRIPTS, packed, render_page, write_report
from audiocapbench.report.page.report_data import ReportData, gather, stored_summaries
from audiocapbench.report.site.submission import CheckedSubmission, skeleton
from audiocapbench.scores.estimate import Scorer
from audiocapbench.store import Store

_INDEX, _DATA, _PAGES = "index.html", "leaderboard.json", "models"


def write_site(store: Store, checked: Sequence[CheckedSubmission], out: Path, title: str) -> int:
    if out.exists() and any(out.iterdir()) and not (out / _DATA).is_file():
        raise ReportError(f"{out}: is not empty, and no site that was written here before")
    pages = page_paths(checked)
    groups = grouped((one.submission.board, one) for one in checked)
    largest = sorted(groups.values(), key=len, reverse=True)
    boards = [_board(store, own, pages, title) for own in largest]
    content = SiteDocument(title=title, boards=boards).to_dict()
    (out / _PAGES).mkdir(parents=True, exist_ok=True)
    size = write_file(out / _DATA, json.dumps(content))
    size += sum(_write_model(store, one, out / pages[one.run.id]) for one in checked)
    for old in set((out / _PAGES).glob("*.html")) - {out / one for one in pages.values()}:
        old.unlink()
    page = render_page(
        "report.html", SCRIPTS, title=title, board=boards[0], data=packed(content), embedded=[]
    )
    return size + write_file(out / _INDEX, page)


def page_paths(checked: Sequence[CheckedSubmission]) -> dict[int, str]:
    """Where each page lies, by run: the same place as long as model, authors and settings are."""
    found: dict[str, CheckedSubmission] = {}
    for one in checked:
        own = one.submission
        same = [own.board, own.model, own.by, sorted(own.parameters.items())]
        key = hashlib.sha256(json.dumps(same).encode()).hexdigest()[:8]
        name = re.sub(r"[^a-z0-9]+", "-", own.model.lower()).strip("-")[:60] or "model"
        before = found.setdefault(f"{_PAGES}/{name}-{key}.html", one)
        if before is not one:
            both = f"{before.name} and {one.name}"
            raise ReportError(f"{both} are of one model with the same settings: keep one of them")
    return {one.run.id: path for path, one in found.items()}


def _board(
    store: Store, group: Sequence[CheckedSubmission], pages: dict[int, str], title: str
) -> BoardDocument:
    data, by_run = _gathered(store, group), {one.run.id: one for one in group}
    shown = [by_run[one.run.id] for one in data.runs]
    names = [skeleton(one.submission.model) for one in shown]
    labels = []
    for name, one in zip(names, shown, strict=True):
        more = one.submission.by or Path(pages[one.run.id]).stem[-8:]
        labels.append(one.submission.model + f" ({more})" * (names.count(name) > 1))
    board = board_document(store, data, title)
    board.views = _views(data, shown, labels)
    board.estimates = board.views[""].estimates
    for entry, winner in zip(board.scorers, board.views[""].winners, strict=True):
        entry.best = winner
    for model, label, one in zip(board.models, labels, shown, strict=True):
        model.page, model.label = pages[one.run.id], label
        for name in ("by", "link", "licence", "weights"):
            setattr(model, name, getattr(one.submission, name))
    board.verdict = board.views[""].verdicts[board.headline]
    return board


def _gathered(store: Store, group: Sequence[CheckedSubmission]) -> ReportData:
    """What pages show of runs: when and by what they were made, not put here to be checked."""
    summaries = stored_summaries(store, [one.run.id for one in group])
    for one, checked in zip(summaries, group, strict=True):
        own = checked.submission
        one.table.run = replace(one.run, created_at=own.created_at, made_by=own.made_by)
    return gather(summaries)


def _views(
    data: ReportData, shown: Sequence[CheckedSubmission], labels: Sequence[str]
) -> dict[str, CategoryView]:
    # Scores that submissions say and nobody here could check.
    claims: dict[tuple[object, ...], Cell] = {}
    for checked in shown:
        for one in checked.claims:
            claim = Cell(value=one.value, interval=one.interval, n=one.n, claimed=True)
            claims.setdefault((checked.run.id, one.scorer, one.dimension, one.category), claim)
    views = {
        name: CategoryView(
            samples=sum(name in ("", one.category) for one in data.samples),
            estimates=[
                [
                    cell(run.estimate(scorer, name or None))
                    or claims.get((run.run.id, scorer.name, scorer.dimension, name or None))
                    for run in data.runs
                ]
                for scorer in data.scorers
            ],
            rankings=[],
            notes=[],
            verdicts=[],
            winners=[],
        )
        for name in ("", *data.categories)
    }
    for scorer in data.scorers:
        board = data.ranked(scorer, by_category=True)
        for name, view in views.items():
            add_ranking(view, data, board, name, labels)
    return views


def _write_model(store: Store, one: CheckedSubmission, path: Path) -> int:
    own, data = one.submission, _gathered(store, [one])
    said = [(name, getattr(own, name)) for name in ("by", "licence", "weights", "link", "made_by")]
    about = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in said if value)
    notes = [about[:1].upper() + about[1:]]
    notes += [
        f"claimed, and not checked: {Scorer(claim.scorer, claim.dimension).label} {claim.value:g}"
        for claim in one.claims
        if claim.category is None
    ]
    facts = {"home": f"../{_INDEX}", "notes": [*notes, *data.notes]}
    return write_report(store, data, path, title=own.model, facts=facts).size
