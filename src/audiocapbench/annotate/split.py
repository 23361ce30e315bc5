"""The fourth stage: what passed becomes datasets, split by lot, with no source on two sides.

Each split is MECAT's two folders, ``caption`` and ``qa``, as 'build mecat' makes them and 'run'
takes them, and its published JSON lines under ``mecat``; ``caption`` is also a plain folder of
clips with references.
"""

import hashlib
import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from audiocapbench import audio
from audiocapbench.annotate.contract import NONE, Annotation
from audiocapbench.annotate.merge import findings_of, merged_clips, stage_benchmark
from audiocapbench.annotate.rules import plain_words
from audiocapbench.annotate.stage_run import StageRun
from audiocapbench.benchmarks.mecat.groups import DOMAINS
from audiocapbench.data.build.ledger import Ledger
from audiocapbench.errors import AnnotationError
from audiocapbench.files import write_file
from audiocapbench.metrics.elements.words import words_that_are
from audiocapbench.metrics.porter import stem
from audiocapbench.store import Store
from audiocapbench.store.annotations import Finding, StageRecord


def provenance(annotation: Annotation, said: Mapping[str, Finding]) -> dict[str, Any]:
    """Who said what of a clip, and for the first caption of each view, whose words it has.

    A word that no expert said is listed as the language model's own.
    """
    stems = {
        name: {stem(word) for text in _texts(one.document) for word in plain_words(text).split()}
        for name, one in said.items()
        if one.status == "ok"
    }
    words: dict[str, dict[str, list[str]]] = {}
    for view, texts in annotation.captions.items():
        if texts[0] == NONE:
            continue
        told = dict.fromkeys(plain_words(texts[0]).split())
        content = [word for word in told if word not in words_that_are("stop")]
        words[view] = {
            word: [name for name, own in stems.items() if stem(word) in own] for word in content
        }
    experts = {
        name: one.signature if one.status == "ok" else one.status for name, one in said.items()
    }
    return {
        "experts": experts,
        "words": {view: {w: by for w, by in own.items() if by} for view, own in words.items()},
        "model_only": {view: [w for w, by in own.items() if not by] for view, own in words.items()},
    }


def _texts(value: Any) -> Iterator[str]:
    """Every text in a document: keys are words of experts, too (labels are keys)."""
    if isinstance(value, dict):
        for key, one in value.items():
            yield str(key)
            yield from _texts(one)
    elif isinstance(value, list):
        for one in value:
            yield from _texts(one)
    elif isinstance(value, str):
        yield value


Shares = Mapping[str, float]
_NAME = re.compile(r"[a-z][a-z0-9_-]{0,30}")
_SOURCE = "audiocapbench annotate"


class NothingPassedError(AnnotationError):
    """There is nothing to split."""


class KeptClip(NamedTuple):
    """A clip that passed every check: where it lies, what it is called, and what is said of it."""

    id: str
    key: str
    heard: StageRecord
    annotation: Annotation
    split: str
    why: Mapping[str, Any]

    @property
    def domain(self) -> str:
        """Its domain."""
        return str(self.heard.document["domain"])


class SplitResult(NamedTuple):
    """What was written where: clips by split."""

    out: Path
    clips: tuple[KeptClip, ...]

    @property
    def counts(self) -> dict[str, Counter[str]]:
        """How many clips of each domain every split has."""
        found: dict[str, Counter[str]] = {}
        for one in self.clips:
            found.setdefault(one.split, Counter())[one.domain] += 1
        return found


def read_shares(text: str) -> dict[str, float]:
    """Read ``train=0.8,test=0.2``; shares are parts of their sum.

    Raises:
        AnnotationError: It is not written so.
    """
    shares: dict[str, float] = {}
    for part in text.split(","):
        name, _, value = part.strip().partition("=")
        try:
            share = float(value)
        except ValueError:
            share = -1.0
        if not _NAME.fullmatch(name) or name in shares or not 0 < share < 1e6:
            raise AnnotationError(f"--shares {text!r}: {part!r} is not NAME=SHARE, as in test=0.2")
        shares[name] = share
    return {name: share / sum(shares.values()) for name, share in shares.items()}


def assign(clips: Mapping[str, tuple[str, str]], shares: Shares, seed: int = 0) -> dict[str, str]:
    """The split of each clip, given its source and domain.

    Sources are dealt in an order drawn by lot, the largest first, each whole to the split that
    lacks most of its domains: within what whole sources allow, each split has its share of each.
    """
    sources: dict[str, list[str]] = defaultdict(list)
    for clip, (source, _) in clips.items():
        sources[source].append(clip)
    totals = Counter(domain for _, domain in clips.values())
    wanted = {name: {one: share * n for one, n in totals.items()} for name, share in shares.items()}
    given: dict[str, Counter[str]] = {name: Counter() for name in shares}

    def lot(source: str) -> tuple[int, str]:
        drawn = hashlib.sha256(f"{seed}\0{source}".encode("utf-8", "replace")).hexdigest()
        return -len(sources[source]), drawn

    found: dict[str, str] = {}
    for source in sorted(sources, key=lot):
        own = Counter(clips[clip][1] for clip in sources[source])

        def lack(name: str, own: Counter[str] = own) -> float:
            lacks = (wanted[name][one] - given[name][one] for one in own.elements())
            return sum(lacks) - 1e-9 * given[name].total()

        best = max(shares, key=lack)
        given[best].update(own)
        found |= dict.fromkeys(sources[source], best)
    return found


def kept_clips(store: Store, project: str, shares: Shares, seed: int = 0) -> list[KeptClip]:
    """The clips that passed, each with its split.

    Raises:
        AnnotationError: Nothing was checked yet, or nothing passed.
    """
    records = store.annotations.records(project, "check")
    good = sorted(clip for clip, one in records.items() if one.status == "ok")
    if not good:
        if "check" in store.annotations.settings(project):
            raise NothingPassedError("No annotation passed the checks")
        raise AnnotationError(f"{project}: has not been checked; run 'annotate check' first")
    merged, heard = merged_clips(store, project), store.annotations.records(project, "hear")
    said = findings_of(store, {clip: heard[clip] for clip in good})
    places = {
        clip: (str(heard[clip].document["source"]), str(heard[clip].document["domain"]))
        for clip in good
    }
    splits = assign(places, shares, seed)
    return [
        KeptClip(
            clip,
            key_of(clip),
            heard[clip],
            merged[clip],
            splits[clip],
            provenance(merged[clip], said[clip]),
        )
        for clip in good
    ]


def key_of(clip: str) -> str:
    """A name for files and tables: letters, digits and a hash, so that no two are the same."""
    stem = re.sub(r"[^A-Za-z0-9]+", "-", PurePosixPath(clip).stem).strip("-")[:40] or "clip"
    return f"{stem}-{hashlib.sha256(clip.encode()).hexdigest()[:8]}"


def split(
    root: Path,
    out: Path,
    store: Store,
    shares: Shares,
    *,
    name: str | None = None,
    seed: int = 0,
    progress: Callable[[str, int, int], None] = lambda _name, _done, _total: None,
) -> SplitResult:
    """Write the datasets; what is there already is kept, and the same command goes on.

    Args:
        name: What the benchmark is called; the folder's name by default.

    Raises:
        AnnotationError: Nothing passed, or the clips are another folder's.
        DatasetError: The output folder holds something else.
    """
    project = str(root.resolve())
    if out.resolve().is_relative_to(root.resolve()):
        raise AnnotationError(f"{out}: lies in the folder that is annotated; choose another")
    clips = kept_clips(store, project, shares, seed)
    _refuse_other_splits(out, {one.split for one in clips})
    label = re.sub(r"[^A-Za-z0-9_.-]+", "-", name or root.resolve().name) or "own"
    done, questions = 0, stage_benchmark("split", {one.id: project for one in clips})
    parts = [(part, kind) for part in dict.fromkeys(one.split for one in clips) for kind in _ROWS]
    with StageRun(store, questions, label) as stage:
        for part, kind in parts:
            own = [one for one in clips if one.split == part]
            reuse = out / part / "caption" if kind == "qa" else None
            ledger = Ledger(out / part / kind, f"mecat-{kind}", reuse=reuse)
            wanted = [(one, row) for one in own for row in _ROWS[kind](one, f"{label}-{part}")]
            _forget(ledger, {row["id"]: row for _, row in wanted})
            with ledger.building(f"mecat-{kind}", lambda: ()):
                for position, (one, row) in enumerate(wanted):
                    if row["id"] not in ledger.clips:
                        ledger.keep(row | {"position": position}, _content(root, one))
                    if kind == "qa":
                        stage.tell(one.id, one.annotation.captions["long"][0])
            done += len(own)
            progress("clips written", done, 2 * len(clips))
            if kind == "qa":
                _write_lines(out / part / "mecat", own)
    records = [
        StageRecord(one.id, "split", "ok", {"split": one.split, "key": one.key}) for one in clips
    ]
    store.annotations.put_stage(project, "split", records)
    return SplitResult(out, tuple(clips))


def _refuse_other_splits(out: Path, splits: set[str]) -> None:
    """A clip that is now in one split must not also lie in another, of earlier shares."""
    for manifest in sorted(out.glob("*/caption/manifest.json")):
        if (other := manifest.parents[1]).name not in splits:
            raise AnnotationError(
                f"{out}: has a split {other.name!r} of an earlier command; remove it, or choose "
                "another folder"
            )


def _forget(ledger: Ledger, wanted: Mapping[str, Mapping[str, Any]]) -> None:
    """Leave out what an earlier command wrote and this one would write otherwise."""
    places, files = {key: place for place, key in enumerate(wanted)}, set()
    for key, one in list(ledger.clips.items()):
        own = {name: value for name, value in one.row.items() if name != "duration_s"}
        if key not in wanted or own != {**wanted[key], "position": places[key]}:
            files.add(str(ledger.clips.pop(key).row["file_name"]))
    for name in files - {str(row["file_name"]) for row in wanted.values()}:
        (ledger.root / name).unlink(missing_ok=True)


def _content(root: Path, one: KeptClip) -> bytes:
    content = audio.read_bytes(root / one.id, audio.MOST_BYTES)
    if audio.sha256(content) != one.heard.document["sha256"]:
        raise AnnotationError(f"{one.id}: has changed since it was heard; 'annotate hear' it again")
    return content


def _caption_row(one: KeptClip, split: str) -> Iterator[dict[str, Any]]:
    captions = {view: list(texts) for view, texts in one.annotation.captions.items()}
    yield _row(one, split) | {
        "id": one.key,
        "references": captions["long"],
        "captions": captions,
        "confidence": one.annotation.confidence,
        "provenance": dict(one.why),
    }


def _question_rows(one: KeptClip, split: str) -> Iterator[dict[str, Any]]:
    for key, asked in _questions(one):
        yield _row(one, split) | {
            "id": key,
            "references": [asked["answer"]],
            "instruction": asked["question"],
            "question": asked["question"],
            "clip": one.key,
            "qa_category": asked["category"],
            "difficulty": asked["difficulty"],
        }


def _row(one: KeptClip, split: str) -> dict[str, Any]:
    suffix = PurePosixPath(one.id).suffix.lower()
    about = one.heard.document["about"]
    licence = about.get("licence") or about.get("license")
    return {
        "file_name": f"{one.domain}/{one.key}{suffix}",
        "category": one.domain,
        "source": _SOURCE,
        "domain": one.domain,
        # Never to be taken for the published test set.
        "split": split,
        "original": one.id,
    } | ({"licence": licence} if licence else {})


_ROWS = {"caption": _caption_row, "qa": _question_rows}


def _questions(one: KeptClip) -> Iterator[tuple[str, dict[str, str]]]:
    for number, asked in enumerate(one.annotation.questions):
        digest = hashlib.sha256(f"{one.key}\0{number}\0{asked.question}".encode()).hexdigest()
        yield f"{one.key}_{digest[:8]}", asked.model_dump()


def _write_lines(place: Path, clips: Sequence[KeptClip]) -> None:
    """The references alone, as MECAT publishes them: a file a domain, an object a line."""
    lines: dict[tuple[str, str], list[str]] = defaultdict(list)
    for one in clips:
        captions = dict(one.annotation.captions) | {"domain": one.domain}
        lines["caption_test", one.domain].append(
            json.dumps({one.key: captions}, ensure_ascii=False)
        )
        for key, asked in _questions(one):
            fields = asked | {"domain": one.domain}
            lines["qa_test", one.domain].append(json.dumps({key: fields}, ensure_ascii=False))
    for kind, domain in product(("caption_test", "qa_test"), DOMAINS):
        (place / kind).mkdir(parents=True, exist_ok=True)
        if own := lines[kind, domain]:
            write_file(place / kind / f"{domain}.jsonl", "".join(f"{line}\n" for line in own))
        else:
            (place / kind / f"{domain}.jsonl").unlink(missing_ok=True)
