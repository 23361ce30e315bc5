"""The datasheet of a benchmark: what is in it, how it was made, and what did not get in."""

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from audiocapbench.annotate.check import survival
from audiocapbench.annotate.contract import Annotation
from audiocapbench.annotate.stage import StageContext
from audiocapbench.benchmarks.mecat.groups import DIFFICULTIES, DOMAINS, QA_CATEGORIES, SUBTASKS
from audiocapbench.store.annotations import StageRecord
from audiocapbench.table import Row, Table
from audiocapbench.table.forms import markdown, markdown_text
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
    head = (
        f"# Datasheet of {markdown(out.resolve().name)}\n\n"
        f"Made with `audiocapbench annotate` {VERSION}. Captions and questions were written by a "
        "language model from what other models heard; no person wrote them."
    )
    steps = Table("From the folder to here", survival(context))
    tables = markdown_text([_domains(clips), _texts(clips), *_questions(clips), steps])
    about = [one.heard.document["about"] for one in clips]
    counts = Counter(one.get("licence") or one.get("license") or "not given" for one in about)
    licences = [f"{licence} (of the whole folder, as given by its maker)"] if licence else []
    licences += [f"{name}: {count:,} clips" for name, count in counts.most_common()]
    lists = {"How it was made": _made(context), "Licences": licences}
    parts = (
        "\n".join([f"## {title}\n", *(f"- {markdown(line)}" for line in lines)])
        for title, lines in lists.items()
    )
    return "\n\n".join([head, tables.rstrip(), *parts]) + "\n"


def _domains(clips: Sequence[KeptClip]) -> Table:
    splits = list(dict.fromkeys(one.split for one in clips))
    rows = []
    for domain in [*DOMAINS, None]:
        own = [one for one in clips if domain in (None, one.domain)]
        minutes = sum(float(one.heard.document["duration_s"]) for one in own) / 60
        counts = {name: sum(one.split == name for one in own) for name in splits}
        rows.append({"domain": domain or "all", **counts, "minutes": f"{minutes:.1f}"})
    sources = len({one.heard.document["source"] for one in clips})
    return Table("Clips by domain", rows, notes=[f"{sources:,} sources; none is in two splits."])


def _texts(clips: Sequence[KeptClip]) -> Table:
    rows, every = list[Row](), set[str]()
    for view in SUBTASKS:
        texts = [text for one in clips for text in one.annotation.captions[view]]
        words = [
            word for text in texts for word in re.findall(r"[^\W_]+(?:['’-][^\W_]+)*", text.lower())
        ]
        every.update(words)
        mean = f"{len(words) / max(1, len(texts)):.1f}"
        counts = {"captions": len(texts), "words a caption": mean, "vocabulary": len(set(words))}
        rows.append({"view": view, **counts})
    whole = {"view": "all", "captions": "", "words a caption": "", "vocabulary": len(every)}
    return Table("Texts", [*rows, whole])


def _questions(clips: Sequence[KeptClip]) -> list[Table]:
    asked = [one for clip in clips for one in clip.annotation.questions]
    by_level = Counter[str](one.difficulty for one in asked)
    by_kind = Counter[str](one.category for one in asked)
    levels = [
        {
            "difficulty": name,
            "questions": by_level[name],
            "share": f"{100 * by_level[name] / max(1, len(asked)):.1f} %",
            "asked for": f"{100 * share:.0f} %",
        }
        for name, share in DIFFICULTIES.items()
    ]
    kinds = [{"category": name, "questions": by_kind[name]} for name in QA_CATEGORIES]
    return [Table("Questions by difficulty", levels), Table("Questions by category", kinds)]


def _made(context: StageContext) -> list[str]:
    told = context.settings
    heard, merged = told.get("hear", {}), told.get("merge", {})
    lines = [f"Expert {name}: {one}" for name, one in heard.get("experts", {}).items()]
    not_run = heard.get("not_run", {}).items()
    lines += [f"Expert {name} was not run: {why}" for name, why in not_run]
    lines += [f"Described by {heard['describe']}"] if heard.get("describe") else []
    hashes = ", ".join(f"{name} {one}" for name, one in merged.get("prompts", {}).items())
    costs = [float(one["cost_usd"]) for one in (heard, merged) if one.get("cost_usd") is not None]
    records = context.kept.records(context.project, "merge").values()
    rounds = Counter(one.document["asked"] for one in records)
    asked = ", ".join(f"{count:,} after {turn}" for turn, count in sorted(rounds.items()))
    return [
        *lines,
        f"Thresholds of domains: {json.dumps(heard.get('thresholds', {}))}",
        f"Merged by {merged.get('llm')} with {json.dumps(merged.get('parameters', {}))}",
        f"Prompts (SHA-256): {hashes}",
        *(f"{one.capitalize()}: {json.dumps(told.get(one, {}))}" for one in ("check", "split")),
        f"Replies asked for: {asked}",
        f"Cost: {f'{sum(costs):.4f} dollars' if costs else 'not known'}",
    ]
