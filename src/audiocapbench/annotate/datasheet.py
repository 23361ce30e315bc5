"""The datasheet of a benchmark: what is in it, how it was made, and what did not get in."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from audiocapbench.annotate.check import SurvivalStep
from audiocapbench.annotate.split import KeptClip, SplitResult
from audiocapbench.benchmarks.mecat.groups import DIFFICULTIES, DOMAINS, QA_CATEGORIES, SUBTASKS
from audiocapbench.files import write_file
from audiocapbench.store import Store
from audiocapbench.version import VERSION

FILE_NAME = "DATASHEET.md"


def write_datasheet(
    result: SplitResult,
    store: Store,
    project: str,
    survival: Sequence[SurvivalStep],
    licence: str | None = None,
) -> str:
    """Write the datasheet beside the splits; returns its text."""
    told = store.annotations.settings(project)
    clips = result.clips
    parts = [
        f"# Datasheet of {_md(result.out.resolve().name)}",
        f"Made with `audiocapbench annotate` {VERSION}. Captions and questions were written by a "
        "language model from what other models heard; no person wrote them.",
        "## Clips by domain",
        _domains(result),
        "## Texts",
        _texts(clips),
        "## Questions",
        _questions(clips),
        "## From the folder to here",
        _table(
            ["step", "left", "went"],
            [[name, f"{left:,}", f"{gone:,}"] for name, left, gone in survival],
        ),
        "## How it was made",
        _made(store, project, told),
        "## Licences",
        _licences(clips, licence),
    ]
    text = "\n\n".join(parts) + "\n"
    write_file(result.out / FILE_NAME, text)
    return text


def _domains(result: SplitResult) -> str:
    splits = list(result.counts)
    rows = []
    for domain in [*DOMAINS, None]:
        own = [one for one in result.clips if domain in (None, one.domain)]
        seconds = sum(float(one.heard.document["duration_s"]) for one in own)
        counts = (sum(one.split == name for one in own) for name in splits)
        rows.append([domain or "all", *(f"{one:,}" for one in counts), f"{seconds / 60:.1f}"])
    sources = len({one.heard.document["source"] for one in result.clips})
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


def _made(store: Store, project: str, told: Mapping[str, Mapping[str, Any]]) -> str:
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
    rounds = Counter(
        one.document["asked"] for one in store.annotations.records(project, "merge").values()
    )
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
