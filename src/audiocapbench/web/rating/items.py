"""What people are asked about, each with its clip; and what they said, as files.

What an item is called, who wrote its captions and where its clip lies never leaves the server.
"""

import io
import json
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel

from audiocapbench import audio
from audiocapbench.data.columns import FILES, PREDICTIONS, SYSTEMS, renamed
from audiocapbench.data.opinions import read_opinions
from audiocapbench.data.outcome import SCORED
from audiocapbench.data.problems import InvalidDataError, Problem, check_storable
from audiocapbench.data.records import read_records
from audiocapbench.errors import AudioCapBenchError, AudioError, check_known, some
from audiocapbench.files import csv_text, encodable
from audiocapbench.meta.build import vote_table
from audiocapbench.meta.scorers.scorer import find_clip
from audiocapbench.meta.votes import project_pairs
from audiocapbench.store import Run, Store
from audiocapbench.web.rating.project import KINDS, RatingError, RatingProject

_GROUPS = ("type", "group", "category", "domain")
_GOLD = "gold"
_LONGEST_CAPTION = 20_000
_LONGEST_S, _HIGHEST_RATE = 600.0, 48_000
Form = Literal["csv", "jsonl", "votes"]

_COLUMNS = (
    *("item", "run", "model", "group", "person", "dimension", "value", "confidence", "right"),
    *("gold", "question", "audio", "took_s", "played_s", "rated_at", "chosen"),
)


class RatingItem(BaseModel, frozen=True):
    """One question; ``systems`` are who wrote each caption.

    ``right`` is the right answer where it is known, ``gold`` where people are tried by it.
    """

    id: str
    audio: str
    captions: tuple[str, ...]
    sample: str = ""
    systems: tuple[str, ...] = ()
    runs: tuple[int, ...] = ()
    group: str = ""
    right: str = ""
    gold: str = ""
    chosen: str = ""
    references: tuple[str, ...] = ()
    filtered_by: str = ""  # the scorer that chose which pairs there are


LoadedItems = tuple[dict[str, RatingItem], dict[str, tuple[Path, float]], list[str]]


def load_items(project: RatingProject, store: Store) -> LoadedItems:
    notes: list[str] = []
    if project.items is not None:
        source, folder = project.items, project.audio or Path()
        found = _table_items(project, source)
    else:
        source, (folder, found) = Path(f"run {project.run}"), _run_items(project, store, notes)
        folder = project.audio or folder
        if project.chosen is not None:
            choice = read_opinions(source := project.chosen)
            choice.refuse(choice.problems)
            said = {f"{one.run}/{one.item}": one.chosen for one in choice.opinions}
            if strange := sorted(said.keys() - {one.id for one in found}):
                raise RatingError(f"{source}: the runs have no answer {some(strange)}")
            found = [
                one.model_copy(update={"chosen": said[one.id]}) for one in found if one.id in said
            ]
    found += gold_items(project)
    items = {one.id: one for one in found}
    if len(items) < len(found):
        twice = Counter(one.id for one in found).most_common(1)[0][0]
        raise RatingError(f"{source}: the id {twice!r} names two items")
    if all(one.gold for one in found):
        why = "all its rows have an answer and are gold questions" if found else "holds no items"
        raise RatingError(f"{source}: {why}; there is nothing to rate")
    return items, find_clips(project, folder, found), notes


def gold_items(project: RatingProject) -> list[RatingItem]:
    return [] if project.gold is None else _table_items(project, project.gold, gold=True)


def _table_items(project: RatingProject, path: Path, *, gold: bool = False) -> list[RatingItem]:
    """Items of a table; every row of a table of gold questions has its answer."""
    kind, problems, found = project.kind, list[Problem](), list[RatingItem]()
    letters = "ab" if kind == "pairs" else "1234"[: KINDS[kind].captions]
    captions: dict[str, tuple[str, ...]] = {"caption": PREDICTIONS}
    if len(letters) > 1:
        captions = {f"caption_{one}": (f"caption_{one}",) for one in letters}
    wanted = {"audio": FILES, "system": SYSTEMS, "group": _GROUPS, **captions}
    writers = ("source_a", "source_b") if kind == "pairs" else ("system",)
    columns = (FILES, *captions.values())
    for number, (where, fields) in enumerate(read_records(path, problems, columns), 1):
        row = {name: _text(value) for name, value in renamed(fields, wanted).items()}
        voted = any(name.startswith("vote") and text.strip() for name, text in row.items())
        # 'meta build' says which is preferred where it broke the other caption.
        broken = kind == "pairs" and not voted and not row.get(_GOLD)
        tried_by = "preferred" if broken else _GOLD
        answer, right = row.get(tried_by, ""), row.get("answer", "") if kind == "pick" else ""
        try:
            for name in ("audio", *captions):
                if not 0 < len(row.get(name, "")) <= _LONGEST_CAPTION:
                    most = f"has more than {_LONGEST_CAPTION:,} characters"
                    raise RatingError(most if row.get(name) else "is missing, blank or not text")
            name = row.get("id", "")[:80]
            check_storable(list(row.values()))
            known = {tried_by: answer, "answer": right}
            for name in filter(known.get, known):
                KINDS[kind].is_right(known[name], {})
            name = _GOLD
            if gold and not answer:
                raise RatingError("is missing: these are gold questions")
        except (ValueError, RatingError) as error:
            problems.append(Problem(where, name, str(error)))
            continue
        key = row.get("id") or f"{'gold' if gold else 'row'} {number}"
        references = (text for name, text in row.items() if name.startswith("reference") and text)
        item = RatingItem(
            id=key,
            audio=row["audio"],
            captions=tuple(row[name] for name in captions),
            sample=key,
            systems=tuple(row.get(name, "") for name in writers if any(map(row.get, writers))),
            group=row.get("group", ""),
            right=right or (answer if kind == "pick" else ""),
            gold=answer.strip().lower(),
            references=tuple(references),
            filtered_by=row.get("filter", ""),
        )
        found.append(item)
    if problems:
        raise InvalidDataError(path, problems, shown=20)
    return found


def _text(value: Any) -> str:
    if isinstance(value, dict):  # audio as Hugging Face has it
        value = value.get("path")
    if isinstance(value, int | float) and not isinstance(value, bool):
        value = str(value)
    return value if isinstance(value, str) and value.strip() else ""


def captions_of(store: Store, run: int) -> dict[str, str]:
    """What a run says of each sample that it has words about."""
    replies = ((key, one.reply) for key, one in store.outcomes(run).items())
    return {key: one.text for key, one in replies if one.status in SCORED and one.text.strip()}


def runs_of(project: RatingProject, store: Store) -> list[Run]:
    numbers = [one if isinstance(one, int) else store.run_called(one)[0] for one in project.runs]
    runs = [store.run(number) for number in dict.fromkeys(numbers)]
    if len({run.dataset for run in runs}) > 1:
        raise RatingError("the runs are about different clips; rate them in projects of their own")
    return runs


def _run_items(
    project: RatingProject, store: Store, notes: list[str]
) -> tuple[Path, list[RatingItem]]:
    runs = runs_of(project, store)
    answers = {run.id: captions_of(store, run.id) for run in runs}
    lacks = {run.id: len(run.sample_ids) - len(answers[run.id]) for run in runs}
    notes += [
        f"{n:,} samples of run {run} have no answer to rate." for run, n in lacks.items() if n
    ]
    dataset = store.dataset(runs[0].dataset, runs[0].benchmark)
    others = sorted({text.strip() for text in answers[runs[0].id].values()})
    found: list[RatingItem] = []
    for sample in dataset.samples:
        about: dict[str, Any] = {"sample": sample.id, "group": sample.category}
        about |= {"references": tuple(sample.references), "audio": sample.clip.file_name}
        own = [run for run in runs if sample.id in answers[run.id]]
        texts = tuple(answers[run.id][sample.id] for run in own)
        models, ids = tuple(run.model for run in own), tuple(run.id for run in own)
        if project.kind in ("judge", "rel"):
            for run, text in zip(own, texts, strict=True):
                whose: dict[str, Any] = {"systems": (run.model,), "runs": (run.id,)}
                key = f"{run.id}/{sample.id}"
                found.append(RatingItem(id=key, captions=(text,), **whose, **about))
        elif project.kind == "pairs" and len(set(map(str.strip, texts))) == 2:
            about |= {"systems": models, "runs": ids}
            found.append(RatingItem(id=sample.id, captions=texts, **about))
        elif project.kind == "pick" and own:
            # An answer among those of other clips, and its number there.
            draw, count = random.Random(f"{project.seed} {sample.id}"), KINDS["pick"].captions
            some = draw.sample(others, min(count, len(others)))
            wrong = [text for text in some if text != texts[0].strip()][: count - 1]
            place = draw.randrange(count)
            if len(wrong) == count - 1:
                about |= {"systems": models * count, "runs": ids, "right": str(place + 1)}
                shown = (*wrong[:place], texts[0], *wrong[place:])
                found.append(RatingItem(id=sample.id, captions=shown, **about))
    if project.kind in ("pairs", "pick"):
        met = set.intersection(*(set(own) for own in answers.values()))
        if same := len(met) - len(found):
            notes.append(f"{same:,} samples are not asked: their captions are all the same.")
    return Path(dataset.root), found


def find_clips(
    project: RatingProject, folder: Path, items: Sequence[RatingItem]
) -> dict[str, tuple[Path, float]]:
    """The clip of each item and its seconds; all that cannot be played is one error."""
    if not folder.is_dir():
        raise RatingError(f"{folder}: no such folder; 'audio' names the folder with the clips")
    found: dict[str, tuple[Path, float]] = {}
    problems: list[Problem] = []
    for name, key in {one.audio: one.id for one in reversed(items)}.items():
        try:
            path = find_clip(folder, name, follow_links=project.follow_links)
            if path is None:
                raise AudioError(f"is not in {folder}")
            seconds = audio.probe(path).duration_s
            if seconds > _LONGEST_S:
                raise AudioError(f"lasts {seconds:,.0f} s, and people hear {_LONGEST_S:,.0f} s")
            found[name] = path, seconds
        except AudioCapBenchError as error:
            problems.append(Problem(key, name, str(error)))
    if problems:
        raise InvalidDataError(folder, problems[::-1], shown=20)
    return {one.id: found[one.audio] for one in items}


@lru_cache(maxsize=32)
def playable(path: Path) -> bytes:
    """A clip as every browser plays it: FLAC, without what the file says of itself."""
    import numpy as np
    import soundfile

    found = audio.probe(path)
    made = audio.decode(path, mono=found.channels > 2, rate=min(found.rate, _HIGHEST_RATE))
    loudest = float(np.abs(made.samples).max(initial=1.0))
    target = io.BytesIO()
    soundfile.write(target, made.samples / loudest, made.rate, format="FLAC", subtype="PCM_16")
    return target.getvalue()


def export_ratings(
    store: Store, project: str, form: Form, dimension: str | None = None, *, gold: bool = False
) -> str:
    """All ratings of a project, or of one dimension, as text; answers to gold questions if asked.

    ``votes`` are a pair a row with all votes on it, as 'meta csv' and 'meta build --votes' read it.
    """
    kinds = {one.name: one.kind for one in store.ratings.projects()}
    check_known("project", project, kinds, RatingError)
    kind = KINDS[kinds[project]]
    items = {key: RatingItem(id=key, **one) for key, one in store.ratings.items(project).items()}
    if form == "votes":
        pairs = [
            replace(one, answer=None if one.votes else one.answer, subtype=items[one.id].group)
            for one in project_pairs(store, project)
        ]
        pairs = [replace(one, references_first=items[one.id].references) for one in pairs]
        return vote_table(".csv", pairs, max((len(one.votes) for one in pairs), default=0))
    known = kind.dimensions
    if dimension is not None:
        check_known(f"dimension of {project}", dimension, known, RatingError)
    rows: list[list[Any]] = []
    for one in store.ratings.of(project):
        item = items[one.item]
        if item.gold and not gold:
            continue
        answer = item.gold or item.right
        right = int(kind.is_right(answer, one.answer)) if answer else None
        # What was said of several captions is said of all their writers.
        runs, models = dict.fromkeys(map(str, item.runs)), dict.fromkeys(item.systems)
        about = [item.sample, "+".join(runs), "+".join(models), item.group, one.person]
        how = [one.answer.get("confidence"), right, int(bool(item.gold)), one.item, item.audio]
        when = [round(one.took_s, 2), round(one.played_s, 2), one.rated_at, item.chosen]
        names = known if dimension is None else (dimension,)
        rows += [[*about, name, one.answer[name], *how, *when] for name in names]
    if form == "jsonl":
        made = (dict(zip(_COLUMNS, row, strict=True)) for row in rows)
        return "".join(f"{encodable(json.dumps(one, ensure_ascii=False))}\n" for one in made)
    return csv_text([_COLUMNS, *rows])
