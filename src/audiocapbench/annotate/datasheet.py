"""The datasheet of a benchmark: what is in it, how it was made, and what did not get in."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from audiocapbench.annotate.check import survival
from audiocapbench.annotate.contract import Annotation
from audiocapbench.annotate.stage import StageContext
from audiocapbench.benchmarks.mecat.groups import DIFFICULTIES, DOMAINS, QA_CATEGORIES, SUBTASKS
from audiocapbench.store.annotations import StageRecord
from audiocapbench.version import VERSION

FILE_NAME = "DATASHEET.md"


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


def datasheet(
    context: StageContext, out: Path, clips: Sequence[KeptClip], licence: str | None = None
) -> str:
    """The datasheet of splits in a folder, as Markdown."""
    parts = [
        f"# Datasheet of {_md(out.resolve().name)}",
        f"Made with `audiocapbench annotate` {VERSION}. Captions and questions were written by a "
        "language model from what other models heard; no person wrote them.",
        "## Clips by domain",
        _domains(clips),
        "## Texts",
        _texts(clips),
        "## Questions",
        _questions(clips),
        "## From the folder to here",
        _table(
            ["step", "left", "went"],
            [[one["step"], f"{one['left']:,}", f"{one['went']:,}"] for one in survival(context)],
        ),
        "## How it was made",
        _made(context),
        "## Licences",
        _licences(clips, licence),
    ]
    return "\n\n".join(parts) + "\n"


def _domains(clips: Sequence[KeptClip]) -> str:
    splits = list(dict.fromkeys(one.split for one in clips))
    rows = []
    for domain in [*DOMAINS, None]:
        own = [one for one in clips if domain in (None, one.domain)]
        seconds = sum(float(one.heard.document["duration_s"]) for one in own)
        counts = (sum(one.split == name for one in own) for name in splits)
        rows.append([domain or "all", *(f"{one:,}" for one in counts), f"{seconds / 60:.1f}"])
    sources = len({one.heard.document["source"] for one in clips})
    note = f"{sources:,} sources; no source is in two splits."
    return f"{_table(['domain', *splits, 'minutes'], rows)}\n\n{note}"


def _texts(clips: Sequence[KeptClip]) -> str:
    rows, every = [], set[str]()
    for view in SUBTASKS:
        texts = [text for one in clips for text in one.annotation.captions[view]]
        words = [word for text in texts for word in _words(text)]
        mean = len(words) / max(1, len(texts))
        every.update(words)
        rows.append([view, f"{len(texts):,}", f"{mean:.1f}", f"{len(set(words)):,}"])
    rows.append(["all", "", "", f"{len(every):,}"])
    return _table(["view", "captions", "words a caption", "vocabulary"], rows)


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+(?:['’-][^\W_]+)*", text.lower())


def _questions(clips: Sequence[KeptClip]) -> str:
    asked = [one for clip in clips for one in clip.annotation.questions]
    total = max(1, len(asked))
    by_level = Counter[str](one.difficulty for one in asked)
    by_kind = Counter[str](one.category for one in asked)
    levels = []
    for name, share in DIFFICULTIES.items():
        found = f"{100 * by_level[name] / total:.1f} %"
        levels.append([name, f"{by_level[name]:,}", found, f"{100 * share:.0f} %"])
    kinds = [[name, f"{by_kind[name]:,}"] for name in QA_CATEGORIES]
    first = _table(["difficulty", "questions", "share", "asked for"], levels)
    return f"{first}\n\n{_table(['category', 'questions'], kinds)}"


def _made(context: StageContext) -> str:
    told = context.settings
    heard, merged = told.get("hear", {}), told.get("merge", {})
    lines = [f"- Expert {_md(name)}: {_md(one)}" for name, one in heard.get("experts", {}).items()]
    lines += [
        f"- Expert {_md(name)} was not run: {_md(why)}"
        for name, why in heard.get("not_run", {}).items()
    ]
    if heard.get("describe"):
        lines.append(f"- Described by {_md(heard['describe'])}")
    lines.append(f"- Thresholds of domains: {_md(json.dumps(heard.get('thresholds', {})))}")
    parameters = json.dumps(merged.get("parameters", {}))
    lines.append(f"- Merged by {_md(str(merged.get('llm')))} with {_md(parameters)}")
    hashes = ", ".join(f"{name} {one}" for name, one in merged.get("prompts", {}).items())
    lines.append(f"- Prompts (SHA-256): {_md(hashes)}")
    for stage in ("check", "split"):
        lines.append(f"- {stage.capitalize()}: {_md(json.dumps(told.get(stage, {})))}")
    costs = [float(one["cost_usd"]) for one in (heard, merged) if one.get("cost_usd") is not None]
    cost = f"{sum(costs):.4f} dollars" if costs else "not known"
    records = context.kept.records(context.project, "merge").values()
    rounds = Counter(one.document["asked"] for one in records)
    asked = ", ".join(f"{count:,} after {turn}" for turn, count in sorted(rounds.items()))
    return "\n".join([*lines, f"- Replies asked for: {asked}", f"- Cost: {cost}"])


def _licences(clips: Sequence[KeptClip], given: str | None) -> str:
    about = [one.heard.document["about"] for one in clips]
    counts = Counter(one.get("licence") or one.get("license") or "not given" for one in about)
    whole = [f"- {_md(given)} (of the whole folder, as given by its maker)"] if given else []
    rows = [f"- {_md(name)}: {count:,} clips" for name, count in counts.most_common()]
    return "\n".join([*whole, *rows])


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(_md, line))} |" for line in lines)


def _md(text: str) -> str:
    """Text that Markdown shows as it is, on one line."""
    plain = " ".join("".join(one if one.isprintable() else " " for one in text).split())
    return re.sub(r"([\\`*_\[\]<>|#~])", r"\\\1", plain)
