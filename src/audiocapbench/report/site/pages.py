"""The pages of a leaderboard site, which ask for nothing: one of all models, and one of each."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from audiocapbench.data import Sample
from audiocapbench.errors import ReportError
from audiocapbench.files import digest, write_file
from audiocapbench.grouping import grouped
from audiocapbench.report.leaderboard.board import Placement, Ranking
from audiocapbench.report.page.board import board_document
from audiocapbench.report.page.document import (
    BoardDocument,
    Cell,
    ScorerEntry,
    ScorerGroup,
    SiteDocument,
)
from audiocapbench.report.page.html import (
    MEDIA_TYPES,
    MOST_EMBEDDED,
    SCRIPTS,
    Sound,
    packed,
    render_page,
    sounds_of,
    write_report,
)
from audiocapbench.report.page.report_data import gather
from audiocapbench.report.site.submission import CheckedSubmission, skeleton
from audiocapbench.scores.estimate import Scorer, counted
from audiocapbench.stats.correlation import Coefficient
from audiocapbench.stats.votes import RankAgreement, Vote, strengths
from audiocapbench.store import Store

_INDEX, _DATA, _PAGES, _CLIPS = "index.html", "leaderboard.json", "models", "clips"
_PEOPLE, _NAMED = "people prefer", 5
_COMMONS = re.compile(r"https?://creativecommons\.org/(licenses|publicdomain)/")
_FREE = re.compile(r"(cc[- ]?(0|zero|mark)|public[- ]domain|cc[- ]by([- ]sa)?)([-/ ][1-4]\.0)?/?")


def write_site(
    store: Store,
    checked: Sequence[CheckedSubmission],
    out: Path,
    title: str,
    votes: Sequence[Vote] = (),
    known: Iterable[Sample] = (),
) -> tuple[int, int]:
    """Write all pages; how many bytes, and how many clips of those ``known`` can be heard."""
    if out.exists() and any(out.iterdir()) and not (out / _DATA).is_file():
        raise ReportError(f"{out}: is not empty, and no site that was written here before")
    pages = page_paths(checked)
    groups = grouped((one.submission.board, one) for one in checked)
    largest = sorted(groups.values(), key=len, reverse=True)
    boards = [_board(store, own, pages, title) for own in largest]
    names = {pages[one.run.id]: one.submission.model for one in checked}
    if votes and not any([_add_people(board, names, votes) for board in boards]):  # noqa: C419
        voted = ", ".join(sorted({name for one in votes for name in one[:2]})[:_NAMED])
        raise ReportError(f"no two submissions are of models that were voted on, such as {voted}")
    content = SiteDocument(title=title, boards=boards).to_dict()
    (out / _PAGES).mkdir(parents=True, exist_ok=True)
    size = write_file(out / _DATA, json.dumps(content))
    sounds = _share(known, checked, out)
    size += sum(_write_model(store, one, out / pages[one.run.id], sounds) for one in checked)
    kept = {out / one for one in pages.values()}
    kept |= {out / _CLIPS / Path(one.link).name for one in sounds.values()}
    hashed = (out / _CLIPS).glob("[0-9a-f]" * 64 + ".*")  # and nothing that is not ours
    for old in {*(out / _PAGES).glob("*.html"), *hashed} - kept:
        old.unlink()
    shown: Any = {"title": title, "board": boards[0], "data": packed(content), "embedded": []}
    page = render_page(SCRIPTS, **shown)
    return size + write_file(out / _INDEX, page), sum(bool(one.link) for one in sounds.values())


def may_be_shared(licence: object) -> bool:
    """Whether a licence lets anybody pass a sound on: CC0, public domain, CC BY or CC BY-SA."""
    return bool(_FREE.fullmatch(_COMMONS.sub("cc-", str(licence).strip().lower())))


def _share(
    known: Iterable[Sample], checked: Sequence[CheckedSubmission], out: Path
) -> dict[str, Sound]:
    """Put clips beside the pages that they are on, as far as the keeper's data say they may be."""
    wanted, clips = {one.clip.sha256 for own in checked for one in own.submission.samples}, {}
    for sample in known:
        clip, own, kind = sample.clip, sample.details, sample.clip.path.suffix.lower()
        free = may_be_shared(own.get("licence", own.get("license")))
        if free and clip.sha256 in wanted and kind in MEDIA_TYPES:
            path = out / _CLIPS / f"{clip.sha256}{kind}"
            path.parent.mkdir(exist_ok=True)
            write_file(path, clip.read(MOST_EMBEDDED))
            clips[clip.sha256] = replace(clip, path=path)
    return sounds_of(clips.values(), "link", out / _PAGES / _INDEX)


def page_paths(checked: Sequence[CheckedSubmission]) -> dict[int, str]:
    """Where each page lies, by run: the same place as long as model, authors and settings are."""
    found: dict[str, CheckedSubmission] = {}
    for one in checked:
        own = one.submission
        same = [own.board, own.model, own.by, sorted(own.parameters.items())]
        key = digest(json.dumps(same))[:8]
        name = re.sub(r"[^a-z0-9]+", "-", own.model.lower()).strip("-")[:60] or "model"
        before = found.setdefault(f"{_PAGES}/{name}-{key}.html", one)
        if before is not one:
            both = f"{before.name} and {one.name}"
            raise ReportError(f"{both} are of one model with the same settings: keep one of them")
    return {one.run.id: path for path, one in found.items()}


def _board(
    store: Store, group: Sequence[CheckedSubmission], pages: dict[int, str], title: str
) -> BoardDocument:
    data, by_run = gather([one.table for one in group]), {one.run.id: one for one in group}
    shown = [by_run[one.run.id] for one in data.runs]
    names = [skeleton(one.submission.model) for one in shown]
    labels = []
    for name, one in zip(names, shown, strict=True):
        more = one.submission.by or Path(pages[one.run.id]).stem[-8:]
        labels.append(one.submission.model + f" ({more})" * (names.count(name) > 1))
    board = board_document(store, data, title, labels)
    for place, (model, one) in enumerate(zip(board.models, shown, strict=True)):
        model.page = pages[one.run.id]
        for field in ("by", "link", "licence", "weights"):
            setattr(model, field, getattr(one.submission, field))
        # Scores that the submission says and nobody here could check.
        for claim in one.claims:
            view = board.views.get(claim.category or "")
            scorer = Scorer(claim.scorer, claim.dimension)
            if view is not None and scorer in data.scorers:
                cells = view.estimates[data.scorers.index(scorer)]
                claimed = Cell(value=claim.value, interval=claim.interval, n=claim.n, claimed=True)
                cells[place] = cells[place] or claimed
    return board


def _add_people(board: BoardDocument, names: dict[str, str], votes: Sequence[Vote]) -> bool:
    """Add a column of how often people prefer each model to others of the board; whether any is.

    Nothing is ranked by it unless a reader chooses so.
    """
    models = [names[one.page] for one in board.models]
    # Of two of one name, votes do not say which.
    votes = [one for one in votes if all(models.count(name) == 1 for name in one[:2])]
    if not votes:
        return False
    found = strengths(votes)
    ranks = dict(zip(found.models, found.ranks, strict=True))
    cells: list[Cell | None] = []
    places: list[Placement] = []
    for name in models:
        share = found.models.get(name, Coefficient())
        if share.value is None:
            cells.append(None)
            places.append(Placement())
            continue
        ends = share.interval and (100 * share.interval.low, 100 * share.interval.high)
        cells.append(Cell(value=100 * share.value, interval=ends, n=found.votes[name]))
        rank = 1 + list(found.models).index(name)
        places.append(Placement(rank, 100 * share.value, ranks[name], f"{ranks[name]}"))
    how = f"by {counted(len(votes), 'vote')} of {counted(found.people, 'rater')}"
    ranked_by = board.scorers[board.headline].label
    beside = zip(board.views[""].estimates[board.headline], cells, strict=True)
    both = [(one.value, own.value) for one, own in beside if one and own and not one.claimed]
    note = (
        f"How often people would prefer a model to another, in percent, {how}; a tie is half. "
        + RankAgreement.of(both).with_score(ranked_by)
    )
    best, share = next(iter(found.models.items()))
    alone = ranks[best].worst == 1
    said = f"People prefer {best}" if alone else f"It is open whom people prefer; {best} leads"
    said += f": {100 * (share.value or 0.0):.1f} %, {how}."
    entry = ScorerEntry(label=_PEOPLE, column=_PEOPLE, judge=None, max_value=100.0, digits=1)
    group = ScorerGroup(title="People", coverage="votes", note=note, scorers=[])
    group.scorers.append(len(board.scorers))
    board.scorers.append(entry)
    board.boards.append(group)
    for name, view in board.views.items():
        view.estimates.append([None] * len(cells) if name else cells)
        view.add(Ranking(places=tuple(places)), [note, *found.notes], said)
    return True


def _write_model(
    store: Store, one: CheckedSubmission, path: Path, sounds: Mapping[str, Sound]
) -> int:
    own, data = one.submission, one.data or gather([one.table])
    said = [(name, getattr(own, name)) for name in ("by", "licence", "weights", "link", "made_by")]
    about = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in said if value)
    notes = [about[:1].upper() + about[1:]]
    notes += [
        f"claimed, and not checked: {Scorer(claim.scorer, claim.dimension).label} {claim.value:g}"
        for claim in one.claims
        if claim.category is None
    ]
    facts = {"home": f"../{_INDEX}", "notes": [*notes, *data.notes]}
    given: Any = {"title": own.model, "facts": facts, "sounds": sounds}
    return write_report(store, data, path, audio="link" if sounds else "none", **given).size
