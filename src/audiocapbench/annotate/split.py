"""The fourth stage: what passed becomes datasets, split by lot, with no source on two sides.

Each split is MECAT's two folders, ``caption`` and ``qa``, and its published JSON lines.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from audiocapbench import audio
from audiocapbench.annotate.books import fates
from audiocapbench.annotate.self_test import LEAST_CAUGHT, MOST_LOST, below_bar
from audiocapbench.annotate.stage import Annotation, StageContext, StageResult
from audiocapbench.benchmarks.mecat.build import MecatPart, row_of
from audiocapbench.benchmarks.mecat.groups import DOMAINS
from audiocapbench.data.build.ledger import Ledger
from audiocapbench.errors import AnnotationError
from audiocapbench.files import csv_text, digest, write_file
from audiocapbench.grouping import grouped
from audiocapbench.store.cache import StageRecord

Shares = Mapping[str, float]
_SHARE = re.compile(r"([a-z][a-z0-9_-]{0,30})=(\d+(?:\.\d*)?|\.\d+)")
_SOURCE = "audiocapbench annotate"
_KINDS: tuple[MecatPart, ...] = ("caption", "qa")


class KeptClip(NamedTuple):
    """A clip that passed every check; ``key`` is its name in the datasets."""

    id: str
    key: str
    domain: str
    heard: Mapping[str, Any]
    annotation: Annotation
    split: str


def read_shares(text: str) -> dict[str, float]:
    """Read ``train=0.8,test=0.2``; shares are parts of their sum."""
    shares: dict[str, float] = {}
    for part in text.split(","):
        found = _SHARE.fullmatch(part.strip())
        if found is None or found[1] in shares or not 0 < float(found[2]) < 1e6:
            raise AnnotationError(f"--shares {text!r}: {part!r} is not NAME=SHARE, as in test=0.2")
        shares[found[1]] = float(found[2])
    return {name: share / sum(shares.values()) for name, share in shares.items()}


def assign(clips: Mapping[str, tuple[str, str]], shares: Shares, seed: int = 0) -> dict[str, str]:
    """The split of each clip: its source goes by lot, largest first, to the one that lacks most."""
    sources = grouped((source, clip) for clip, (source, _) in clips.items())
    totals = Counter(domain for _, domain in clips.values())
    wanted = {name: {one: share * n for one, n in totals.items()} for name, share in shares.items()}
    given: dict[str, Counter[str]] = {name: Counter() for name in shares}

    def lot(source: str) -> tuple[int, str]:
        return -len(sources[source]), digest(seed, source)

    found: dict[str, str] = {}
    for source in sorted(sources, key=lot):
        own, lacks = Counter(clips[clip][1] for clip in sources[source]), dict[str, float]()
        for name, have in given.items():
            lacking = sum(wanted[name][one] - have[one] for one in own.elements())
            lacks[name] = lacking - 1e-9 * have.total()
        best = max(lacks, key=lacks.__getitem__)
        given[best].update(own)
        found |= dict.fromkeys(sources[source], best)
    return found


def key_of(clip: str) -> str:
    """A name for files and tables: letters, digits and a hash, so that no two are the same."""
    stem = re.sub(r"[^A-Za-z0-9]+", "-", PurePosixPath(clip).stem).strip("-")[:40] or "clip"
    return f"{stem}-{digest(clip)[:8]}"


def check_out(root: Path, out: Path) -> None:
    if out.resolve().is_relative_to(root.resolve()):
        raise AnnotationError(f"{out}: lies in the folder that is annotated; choose another")


def split(
    context: StageContext,
    out: Path,
    shares: Shares,
    *,
    name: str | None = None,
    seed: int = 0,
    accept_quality: bool = False,
) -> tuple[list[KeptClip], StageResult]:
    """Write the datasets; what is there already is kept, and the same command goes on."""
    heard, passed, merged = context.passed("hear"), context.passed("check"), context.merged()
    if not passed:
        return [], StageResult({"out": None, "clips": 0}, False)
    low = below_bar(context.settings["check"]["self_test"])
    if low and not accept_quality:
        bar = f"at least {LEAST_CAUGHT:.0%}, at most {MOST_LOST:.0%} of good ones lost"
        raise AnnotationError(f"{context.root}: {low} ({bar}); mend it, or give --accept-quality")
    about = {clip: heard[clip].document for clip in passed}
    for clip, told in about.items():  # before anything is written, or kept of an earlier command
        if audio.sha256(audio.read_bytes(context.root / clip, audio.MOST_BYTES)) != told["sha256"]:
            how = "has changed since it was heard; 'annotate hear' it again"
            raise AnnotationError(f"{clip}: {how}")
    sources = {clip: (own["source"], own["domain"]) for clip, own in about.items()}
    splits = assign(sources, shares, seed)
    clips = [
        KeptClip(clip, key_of(clip), own["domain"], own, merged[clip], splits[clip])
        for clip, own in about.items()
    ]
    parts = list(dict.fromkeys(one.split for one in clips))
    for manifest in sorted(out.glob("*/caption/manifest.json")):
        # A clip that is now in one split must not also lie in another, of earlier shares.
        if (other := manifest.parents[1].name) not in parts:
            how = "remove it, or choose another folder"
            raise AnnotationError(f"{out}: has a split {other!r} of an earlier command; {how}")
    label = re.sub(r"[^A-Za-z0-9_.-]+", "-", name or context.root.resolve().name) or "own"
    done = 0
    for part, kind in product(parts, _KINDS):
        own = [one for one in clips if one.split == part]
        reuse = out / part / "caption" if kind == "qa" else None
        ledger = Ledger(out / part / kind, f"mecat-{kind}", reuse=reuse)
        wanted = [(one, row) for one in own for row in _rows(one, kind, f"{label}-{part}")]
        _forget(ledger, {row["id"]: row for _, row in wanted})
        with ledger.building(f"mecat-{kind}", lambda: ()):
            for position, (one, row) in enumerate(wanted):
                if row["id"] not in ledger.clips:
                    content = audio.read_bytes(context.root / one.id, audio.MOST_BYTES)
                    ledger.keep(row | {"position": position}, content)
        done += len(own)
        context.progress("clips written", done, 2 * len(clips))
        _write_lines(out / part / "mecat" / f"{kind}_test", own, kind)
    records = [
        StageRecord(one.id, "split", "ok", {"split": one.split, "key": one.key}) for one in clips
    ]
    context.keep("split", records, {"shares": dict(shares), "seed": seed, "name": name})
    ends = ([clip, *end] for clip, end in fates(context).items())
    write_file(out / "survival.csv", csv_text([["clip", "went_at", "reason"], *ends]))
    counts = {part: Counter(one.domain for one in clips if one.split == part) for part in parts}
    return clips, StageResult({"out": str(out), "clips": len(clips), "splits": counts})


def _forget(ledger: Ledger, wanted: Mapping[str, Mapping[str, Any]]) -> None:
    """Leave out what an earlier command wrote and this one would write otherwise."""
    rows = {key: {**row, "position": at} for at, (key, row) in enumerate(wanted.items())}
    files = {str(row["file_name"]) for row in wanted.values()}
    for key, one in list(ledger.clips.items()):
        if {**rows.get(key, {}), "duration_s": one["duration_s"]} != one:
            del ledger.clips[key]
            if one["file_name"] not in files:
                (ledger.root / one["file_name"]).unlink(missing_ok=True)


def _published(one: KeptClip, kind: MecatPart) -> dict[str, dict[str, Any]]:
    """What MECAT's files say of a clip: its captions, or each question by a key of its own."""
    if kind == "caption":
        return {one.key: {**one.annotation.captions, "domain": one.domain}}
    found = {}
    for number, asked in enumerate(one.annotation.questions):
        key = digest(one.key, number, asked["question"])[:8]
        found[f"{one.key}_{key}"] = {**asked, "domain": one.domain}
    return found


def _rows(one: KeptClip, kind: MecatPart, split: str) -> Iterator[dict[str, Any]]:
    about, suffix = one.heard["about"], PurePosixPath(one.id).suffix.lower()
    # Never to be taken for the published test set.
    added: dict[str, Any] = {"source": _SOURCE, "split": split, "original": one.id}
    added |= {"licence": about["licence"]} if about.get("licence") else {}
    if kind == "caption":
        experts = {name: by["signature"] for name, by in one.heard["experts"].items()}
        added |= {"confidence": one.annotation.confidence, "provenance": {"experts": experts}}
    for key, fields in _published(one, kind).items():
        yield row_of(kind, key, fields, suffix) | added


def _write_lines(folder: Path, clips: Sequence[KeptClip], kind: MecatPart) -> None:
    """The references alone, as MECAT publishes them: a file a domain, an object a line."""
    folder.mkdir(parents=True, exist_ok=True)
    for domain in DOMAINS:
        own = [_published(one, kind).items() for one in clips if one.domain == domain]
        lines = [json.dumps({key: row}, ensure_ascii=False) for one in own for key, row in one]
        (folder / f"{domain}.jsonl").unlink(missing_ok=True)
        if lines:
            write_file(folder / f"{domain}.jsonl", "\n".join([*lines, ""]))
