"""Predictions scored anew by one recipe, beside answers that hear nothing, over which they gain.

The recipe is fixed, and all of it comes with the package: nobody chooses what ranks them highest.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from audiocapbench.benchmarks.mecat.dataset import caption_prompt
from audiocapbench.benchmarks.mecat.groups import TRAITS
from audiocapbench.data import Sample
from audiocapbench.grouping import grouped
from audiocapbench.meta import over_blind
from audiocapbench.meta.blind import searched_scorer
from audiocapbench.metrics.names import parse_name
from audiocapbench.metrics.shipped import read_lists
from audiocapbench.report.mecat.answers import NOTES, AnswerSet, ScoredAnswers, group_scores
from audiocapbench.report.mecat.rankings import standings_report
from audiocapbench.scores.estimate import Scorer
from audiocapbench.scores.summary import score_groups
from audiocapbench.table import Column, Findings, Row, Table, ValueWithInterval, signature_notes

RECIPE, AS_PAPER = "date[length=references,variant=published]", "date[variant=published]"
BASELINE, _PERSON = "hears nothing", ("a person", "one of the references")
_EVALUATIONS, _SEED, _WHO = 48, 42, 3
_COLUMNS = (
    Column("gain", form="+.1f"),
    Column("over_blind", form=".2f"),
    Column("as_paper", "as the paper", form=".1f"),
)


def rescored_report(
    models: Sequence[AnswerSet],
    items: Sequence[Sample],
    *,
    evaluations: int = _EVALUATIONS,
    progress: Callable[[int, int], object] = lambda _done, _total: None,
) -> Findings:
    """Place models among each other and among what hears nothing; ``gain`` is over its best.

    All are held to the same references, less one that is a person's answer where all have several.
    """
    benchmark, lots, recipe = models[0].benchmark, random.Random(_SEED), Scorer(RECIPE)
    rules = TRAITS[benchmark].aggregation
    asked = [one for one in items if rules and one.category in rules.weights]
    held, people = over_blind.hold_people_out(asked, lots)
    if len(held) < len(asked):
        held, people = asked, {}
    corpora = [*grouped((one.category, one) for one in held).values()]
    searched = searched_scorer(f"metric:{RECIPE}")
    large = [own for own in corpora if len(own) >= over_blind.FEWEST]
    blind = over_blind.blind_captions(large, people, searched, lots, evaluations, progress)
    texts: dict[tuple[str, str], Mapping[str, str]] = {
        (name, BASELINE): own for name, own in _baselines(asked, blind).items()
    }
    texts |= {_PERSON: people} if people else {}
    texts |= {(one.name, one.origin): one.texts for one in models}
    tables = {who: score_groups(rules, [RECIPE], held, own).table for who, own in texts.items()}
    totals = {who: one.point(recipe).value for who, one in tables.items()}
    hear_nothing = [who for who in totals if who[1] == BASELINE and totals[who] is not None]
    best = max(hear_nothing, key=lambda who: totals[who] or 0.0, default=None)
    beside, made = dict[tuple[str, str], Row](), next(iter(tables.values())).point(recipe).signature
    for who, table in tables.items():
        printed = score_groups(rules, [AS_PAPER], asked, texts[who]).table.point(Scorer(AS_PAPER))
        own: Row = {"gain": ValueWithInterval(None), "over_blind": ValueWithInterval(None)}
        if best is not None and totals[who] is not None:
            sides = [who, best, *([_PERSON] if people else [])]
            columns = [tables[side].sample_scores(recipe) for side in sides]
            how = table.group(recipe), recipe, columns, table.point(recipe).coverage
            found = over_blind.blind_scale(*how)
            value, ends = found[over_blind.ABOVE].value or 0.0, found[over_blind.ABOVE].interval
            own["gain"] = ValueWithInterval(100 * value, ends and (100 * ends[0], 100 * ends[1]))
            own["over_blind"] = found.get(over_blind.OVER, own["over_blind"])
        whole = None if who == _PERSON or printed.value is None else 100 * printed.value
        beside[who] = own | {"as_paper": whole}
    scored = [
        ScoredAnswers(*who, benchmark, made, group_scores(one, parse_name(RECIPE)), {})
        for who, one in tables.items()
    ]
    report = standings_report(scored, benchmark, published=False)
    [page] = report.tables()
    said = NOTES["rescored"].format(best=best and best[0]) if best else NOTES["no gain"]

    def with_gains(rows: Sequence[Row]) -> Table:
        return Table("", [row | beside[row["model"], row["origin"]] for row in rows])

    facts: Row = {"recipe": str(made), "baseline": best and best[0], "notes": [said]}
    facts["standings"] = with_gains(report.to_dict()["standings"]).objects()
    looks = [*page.columns[:_WHO], *_COLUMNS, *page.columns[_WHO:]]
    shown = replace(page, rows=with_gains(page.rows).rows, columns=looks)
    shown = replace(shown, notes=[said, *page.notes, *signature_notes([made])])
    return Findings([shown], report.to_dict() | facts, with_gains(report.records()).records())


def _baselines(asked: Sequence[Sample], blind: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """Answers that hear nothing: what was asked, the best blind answer, padded, and all joined."""
    padding = read_lists("audiocapbench.meta", "attacks.toml")["padding"]
    clips = grouped((one.details["clip"], blind[one.id]) for one in asked if one.id in blind)
    joined = {clip: " ".join(dict.fromkeys(own)) for clip, own in clips.items()}
    echoes = {one.id: one.instruction or caption_prompt(one.details["subtask"]) for one in asked}
    every = {
        "echo": echoes,
        "blind": dict(blind),
        "padding": {key: f"{text.rstrip('.')}, {padding}." for key, text in blind.items()},
        "joining": {one.id: joined[one.details["clip"]] for one in asked if one.id in blind},
    }
    return {name: texts for name, texts in every.items() if texts}
