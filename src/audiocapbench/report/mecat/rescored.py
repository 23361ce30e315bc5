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
from audiocapbench.report.mecat.published import published_count
from audiocapbench.report.mecat.rankings import standings_report
from audiocapbench.scores.estimate import Scorer
from audiocapbench.scores.summary import score_groups
from audiocapbench.table import Findings, Row, ValueWithInterval

AS_PAPER = "date[encoder=caption2vec,variant=published]"
RECIPE = "date[encoder=caption2vec,length=references,variant=published]"
BASELINE, _PERSON = "hears nothing", ("a person", "one of the references")
_EVALUATIONS, _SEED = 48, 42


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
    counted = rules.weights if rules else {}
    asked = [one for one in items if one.category in counted]
    held, people = over_blind.hold_people_out(asked, lots)
    if len(held) < len(asked):
        held, people = asked, {}
    corpora = grouped((one.category, one) for one in held).values()
    large = [own for own in corpora if len(own) >= over_blind.FEWEST]
    searched = searched_scorer(f"metric:{RECIPE}")
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
    made, gains = tables["echo", BASELINE].point(recipe).signature, dict[tuple[str, str], Row]()
    for who, table in tables.items():
        paper = score_groups(rules, [AS_PAPER], asked, texts[who]).table.point(Scorer(AS_PAPER))
        gains[who] = dict.fromkeys(("gain", "over_blind"), ValueWithInterval(None))
        gains[who]["as_paper"] = None
        if who != _PERSON and paper.as_zero is not None:  # who is held to no words of their own
            gains[who]["as_paper"] = 100 * paper.as_zero  # as it ranks: omissions raise nothing
        if best is not None and totals[who] is not None:
            sides = [who, best, *([_PERSON] if people else [])]
            columns = [tables[side].sample_scores(recipe) for side in sides]
            how = table.group(recipe), recipe, columns, table.point(recipe).coverage
            found = over_blind.blind_scale(*how)
            above = found[over_blind.ABOVE]
            ends = above.interval and (100 * above.interval.low, 100 * above.interval.high)
            gains[who]["gain"] = ValueWithInterval(100 * (above.value or 0.0), ends)
            gains[who] |= {"over_blind": found[over_blind.OVER]} if people else {}
    scored = [
        ScoredAnswers(*who, benchmark, made, group_scores(one, parse_name(RECIPE)), {})
        for who, one in tables.items()
    ]
    said = [NOTES["rescored"].format(best=best[0]) if best else NOTES["no gain"]]
    if len(asked) < (whole := published_count(counted, {})):
        said.append(NOTES["part"].format(asked=len(asked), whole=whole))
    report = standings_report(scored, benchmark, published=False, beside=gains, notes=said)
    facts: Row = {"recipe": str(made), "baseline": best and best[0]}
    facts["bad_lines"] = [line for one in models for line in one.bad]
    return replace(report, facts=report.facts | facts)


def _baselines(asked: Sequence[Sample], blind: dict[str, str]) -> dict[str, dict[str, str]]:
    """Answers that hear nothing: what was asked, the best blind answer, padded, and all joined."""
    padding = read_lists("audiocapbench.meta", "attacks.toml")["padding"]
    clips = grouped((one.details["clip"], blind[one.id]) for one in asked if one.id in blind)
    joined = {clip: " ".join(dict.fromkeys(own)) for clip, own in clips.items()}
    told = {one.id: one.instruction or caption_prompt(one.details["subtask"]) for one in asked}
    every = {
        "echo": told,
        "blind": blind,
        "padding": {key: f"{text.rstrip('.')}, {padding}." for key, text in blind.items()},
        "joining": {one.id: joined[one.details["clip"]] for one in asked if one.id in blind},
    }
    return {name: texts for name, texts in every.items() if texts}
