"""How runs depart from the published protocol, by what is recorded with them: one table."""

from collections.abc import Mapping, Sequence
from statistics import median
from typing import NamedTuple

from audiocapbench.benchmarks.benchmark_file import published_results
from audiocapbench.benchmarks.captioning import (
    PublishedResults,
    instruction_for,
    is_papers,
    paper_results,
)
from audiocapbench.data.outcome import SCORED
from audiocapbench.grouping import grouped
from audiocapbench.judges.published import AUDIOCAPBENCH, audiocapbench_contract
from audiocapbench.judges.sensitivity import measured_shifts
from audiocapbench.models.gemini import THINKING_MAX_TOKENS, thinks
from audiocapbench.scores.estimate import counted
from audiocapbench.scores.table import RunTable
from audiocapbench.signature import Signature
from audiocapbench.store import Store

TABLE = {
    "clips": "all 1,000 clips",
    "music": "whole clips of 30 s, but for some 20 of 300",
    "instructions": "by place in the list that is evaluated",
    "system": "no system prompt",
    "audio": "the WAV file, to Realtime with its header",
    "mix-down": "the mean of all channels",
    "temperature": "0, of Realtime 0.6",
    "tokens": "256, of Gemini that thinks 8,192, of Realtime and DashScope no limit",
    "answers": "any text, with thoughts and however it ended; none is an empty caption",
    "judge": "GPT-4.1, which does not hear",
    "prompt": "the tool's layout",
    "schema": "none",
    "references": "in their order",
    "reading": "scores clamped, a missing one 0, the mean rounded; texts as they are, also empty",
}
"""What the published tool does, by the names that ``judges sensitivity`` has too."""

DEPARTS = "Departs from the paper"
_UNKNOWN, _UNMEASURED = "unknown", "not measured"
_OF_ASKING = ("system", "audio", "mix-down", "answers", "temperature", "tokens", "music")
_LIMITS = ("max_tokens", "max_completion_tokens", "max_output_tokens")
_WHOLE_S, _LEAST_WHOLE = 15.0, 0.9

_Facts = dict[str, str | None]  # what departs, in short: "" where nothing does, None unknown


class Departure(NamedTuple):
    """``short`` stands in a cell, the rest below; ``measured`` is what it was seen to change."""

    name: str
    short: str
    published: str
    measured: str

    def __str__(self) -> str:
        return f"{self.short}; published: {self.published}; {self.measured}"


def departures(
    store: Store, tables: Mapping[str, RunTable], judge: str | None
) -> dict[str, list[Departure]]:
    """By label what departs of runs of a benchmark, and of their judge; nothing without a paper."""
    first, found = next(iter(tables.values())), {}
    results = published_results(first.run.benchmark, first.samples)
    if results is None:
        return {}
    if results.variant:
        return {label: _from_systems(results, table) for label, table in tables.items()}
    measured = measured_shifts(store, judge, first.run.benchmark) if judge else {}
    for label, table in tables.items():
        facts = _of_data(table) | _of_asking(table) | (_of_judging(table, judge) if judge else {})
        judged, count = len(table.verdicts.get(judge or "", ())), len(table.samples)
        if judge in table.judge_signatures and judged < count:
            few = facts["clips"] and f"{facts['clips']}, "
            facts["clips"] = f"{few}{judged:,} of {count:,} judged"
        told = {name: facts[name] for name in TABLE if facts.get(name, "") != ""}
        found[label] = [
            Departure(one, short or f"{one} {_UNKNOWN}", TABLE[one], measured.get(one, _UNMEASURED))
            for one, short in told.items()
        ]
    return found


def _from_systems(results: PublishedResults, table: RunTable) -> list[Departure]:
    """How a run departs from systems whose scores were published: in clips, and who scored."""
    count, total = len(table.samples), results.total
    short = f"{count:,} of {total:,} clips"
    clips = [Departure("clips", short, f"{total:,} clips", _UNMEASURED)] if count != total else []
    measured = results.recomputed or _UNMEASURED
    return [*clips, Departure("metric", "scored here", results.variant, measured)]


def in_short(found: Sequence[Departure]) -> str:
    unknown = [one.name for one in found if one.short.endswith(_UNKNOWN)]
    words = [one.short for one in found if one.name not in unknown]
    words += [f"{_UNKNOWN}: {', '.join(unknown)}"] if unknown else []
    return ", ".join(words) or "none"


def as_objects(found: Sequence[Departure] | None) -> list[dict[str, str]] | None:
    return None if found is None else [one._asdict() for one in found]


def in_full(found: Mapping[str, Sequence[Departure]]) -> list[str]:
    """A line for each departure, with the runs that have it where others have not."""
    said = [(one, label) for label, own in found.items() for one in [*map(str, own)] or ["none"]]
    whose = {
        one: f" ({', '.join(own)})" * (len(own) < len(found)) for one, own in grouped(said).items()
    }
    return [f"{DEPARTS}: {one}{labels}." for one, labels in whose.items()]


def _of_data(table: RunTable) -> _Facts:
    samples, count, total = table.samples, len(table.samples), paper_results().total
    music = [one.clip.duration_s for one in samples if one.category == "music"]
    cut = sum(one > _WHOLE_S for one in music) < _LEAST_WHOLE * len(music)
    wanted = [instruction_for(one.category, at) for at, one in enumerate(samples)]
    other = sum(one.instruction != said for one, said in zip(samples, wanted, strict=True))
    told = all(one.instruction for one in samples)
    foreign = sum(not is_papers(one) for one in samples)
    other_clips = f"{foreign:,} not the paper's" if foreign else ""
    few = f"{count - foreign:,} of {total:,} clips" if count - foreign != total else ""
    return {
        "clips": ", ".join(filter(None, (few, other_clips))),
        "music": (f"{median(music):.2g} s music" if all(music) else None) if cut else "",
        "instructions": (counted(other, "other instruction") if other else "") if told else None,
    }


def _of_asking(table: RunTable) -> _Facts:
    run, given = table.run, table.run.parameters
    if run.kind == "imported":
        source = run.source or {}
        if isinstance(recorded := source.get("departures"), list):  # it was written here
            own = [one for one in recorded if isinstance(one, dict)]
            told = {str(one.get("name")): str(one.get("short") or "") or None for one in own}
            return {name: told.get(name, "") for name in ("instructions", *_OF_ASKING)}
        # The tool does not say what it was told and had heard; of the rest it has one way.
        known = _OF_ASKING[:4] if source and "signatures" not in source else ()
        heard = {} if all(one.clip.is_absent for one in table.samples) else {"instructions": None}
        return {name: "" if name in known else None for name in _OF_ASKING} | heard
    provider, heat = run.model.partition("/")[0], given.get("temperature")
    realtime, free = provider == "openai-realtime", provider in ("openai-realtime", "dashscope")
    hot = f"temperature {heat if isinstance(heat, int | float) else 'not set'}"
    as_told = heat == (0.6 if realtime else 0) or (heat is None and (free or "host" not in given))
    limit = next((given[one] for one in _LIMITS if given.get(one, "inf") != "inf"), None)
    most = None if free else THINKING_MAX_TOKENS if thinks(run.model) else 256
    errors = [one.reply.error for one in table.outcomes.values() if one.reply.status in SCORED]
    mixed = sum("heard by channel" in (one or "") for one in errors)
    raw = "raw PCM" if run.contract.startswith("pcm16") else ""
    return {
        "system": "system prompt" if "system" in given else "",
        "audio": "no audio" if given.get("audio") is False else raw,
        "mix-down": counted(mixed, "other mix-down") if mixed else "",
        "answers": "" if given.get("protocol") == "published" else "strict answers",
        "temperature": "" if as_told else hot,
        "tokens": "" if limit == most else f"{limit:,} tokens" if limit else "no token limit",
    }


def _of_judging(table: RunTable, judge: str) -> _Facts:
    same, made = paper_results().is_judge(judge), table.judge_signatures.get(judge)
    if made is None or made.get("made") == "not said":  # the tool's own, which has one way
        return {} if made is None else {"judge": "" if same else None}
    made = Signature.parse(made.get("made") or str(made))
    if made.name != f"judge-{AUDIOCAPBENCH}":
        own = dict.fromkeys(("prompt", "schema", "references", "reading")) if same else {}
        return {"judge": "" if same else f"judge {judge}", **own}
    layouts = {audiocapbench_contract(one).prompt_hash: one for one in ("paper", "tool")}
    layout = layouts.get(made.get("prompt"), "other")
    hears = "judge hears" if made.get("hears") == "yes" else ""
    # An empty caption is 0 here, where the tool asks its judge, which is told to say so.
    empty = counted(table.coverage.empty, "empty caption") if table.coverage.empty else ""
    return {
        "judge": hears if same else f"judge {judge}",
        "prompt": "" if layout == "tool" else f"{layout} layout",
        "schema": "schema" if made.get("model.schema") else "",
        "references": "references shuffled" if made.get("references") else "",
        "reading": empty if made.get("reading") == "published" else "strict verdicts",
    }
