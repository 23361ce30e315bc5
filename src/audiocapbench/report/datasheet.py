"""The datasheet of splits that were annotated: what is in them, how it was made, what is not."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from audiocapbench.annotate.books import survival
from audiocapbench.annotate.split import KeptClip
from audiocapbench.annotate.stage import StageContext
from audiocapbench.benchmarks.benchmark import TRIAL
from audiocapbench.benchmarks.mecat.groups import DIFFICULTIES, DOMAINS
from audiocapbench.table import Column, Row, Table, ValueWithInterval
from audiocapbench.table.forms import markdown, markdown_text
from audiocapbench.version import VERSION


def datasheet(
    context: StageContext, clips: Sequence[KeptClip], out: Path, licence: str | None
) -> str:
    """What is in the splits, how it was made, and what did not get in, as Markdown."""
    from jinja2 import Environment, PackageLoader

    place = PackageLoader("audiocapbench.report", "")
    pages = Environment(loader=place, trim_blocks=True, lstrip_blocks=True)  # noqa: S701  # Markdown
    pages.filters |= {"md": markdown, "json": json.dumps}
    rows, told, records = survival(context), context.settings, context.passed("merge")
    steps = Table("From the folder to here", rows, ("step", "left", "went"))
    tried = told["check"].get("self_test", ())
    experts, domains, models = Counter[str](), Counter[str](), Counter[str]()
    for one in clips:
        made, evidence = records[one.id].document, one.heard["evidence"]
        experts.update(f"{by['signature']}: {by['status']}" for by in one.heard["experts"].values())
        used = json.dumps(evidence.get("decided_by") or evidence["thresholds"])
        by = evidence["by"]
        domains[by if by == "metadata" else f"{by}, thresholds {used}"] += 1
        models[f"{made['llm']}, prompts (SHA-256) {json.dumps(made['prompts'])}"] += 1
    paid = [
        one.cost_usd
        for one in context.store.runs()
        if one.asked and one.benchmark.startswith(f"{TRIAL}annotate/") and one.model != "experts"
        if str(context.store.catalog.dataset(one.dataset, ids=()).root) == context.project
    ]
    return pages.get_template("datasheet.md").render(
        name=out.resolve().name,
        version=VERSION,
        tables=markdown_text([*_tables(clips), steps, self_test_table(tried)]).rstrip(),
        told=told,
        made={"Expert": experts, "Domain by": domains, "Merged by": models},
        reasons=[(one["step"], *own) for one in rows for own in one["reasons"].items()],
        noticed=f"{tried[-1]['recall'] or 0:.0%}" if tried else "none",
        unfiltered=told["check"].get("not_run", {}).get("similarity"),
        rounds=sorted(Counter(one.document["asked"] for one in records.values()).items()),
        costs=paid,
        licence=licence,
        licences=Counter(one.heard["about"].get("licence", "not given") for one in clips).items(),
    )


def _tables(clips: Sequence[KeptClip]) -> Iterator[Table]:
    """Clips by domain and split, and questions by difficulty."""
    splits, rows = dict.fromkeys(one.split for one in clips), list[Row]()
    for domain in [*DOMAINS, "all"]:
        own = [one for one in clips if domain in ("all", one.domain)]
        counts = {name: sum(one.split == name for one in own) for name in splits}
        minutes = sum(float(one.heard["duration_s"]) for one in own) / 60
        rows.append({"domain": domain, **counts, "minutes": f"{minutes:.1f}"})
    sources = len({one.heard["source"] for one in clips})
    yield Table("Clips by domain", rows, notes=[f"{sources:,} sources; none is in two splits."])
    asked = [one["difficulty"] for clip in clips for one in clip.annotation.questions]
    shares = {name: asked.count(name) / max(1, len(asked)) for name in DIFFICULTIES}
    rows = [
        {"difficulty": name, "questions": asked.count(name), "share": shares[name], "wanted": one}
        for name, one in DIFFICULTIES.items()
    ]
    columns = (Column("share", form="%"), Column("wanted", "asked for", "%"))
    yield Table("Questions by difficulty", rows, ("difficulty", "questions", *columns))


def self_test_table(rows: Sequence[Mapping[str, Any]]) -> Table:
    parts = ("recall", "precision")
    shown = [
        {**one} | {part: ValueWithInterval(one[part], one[f"{part}_ci"]) for part in parts}
        for one in rows
    ]
    names = ("class", "planted", "caught", Column("recall", form="%"), "alike", "lost")
    notes = ["Errors of our own in annotations that passed; alike: texts that only look like them."]
    return Table("What the checks catch", shown, (*names, Column("precision", form="%")), notes)
