"""Scores over blind: 0 for what the best caption that hears nothing scores, 1 for a person's.

All are held to the same references, from which the person's caption was taken out; the blind
caption of a clip was found on other clips.
"""

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from audiocapbench.data import Sample
from audiocapbench.errors import TrialError
from audiocapbench.grouping import grouped
from audiocapbench.meta import blind
from audiocapbench.scores.compute import ALL, Group, GroupKey, SampleScores, make_groups
from audiocapbench.scores.estimate import HAVE_TEXT, Coverage, Estimate, Scorer
from audiocapbench.scores.summary import score_groups
from audiocapbench.scores.table import RunTable, ScoreTable
from audiocapbench.stats import mean_interval
from audiocapbench.stats.units import FloatArray
from audiocapbench.store.records import SEARCHED

OVER, ABOVE, BLIND, PERSON = map(GroupKey, SEARCHED)
"""Estimates that are kept beside those of groups: the share of the way from blind to a person's,
the difference from blind, and what blind and a person's captions score on the same references."""

_EVALUATIONS = 400  # on each half of a corpus
FEWEST = 8
"""Samples of a corpus that a search takes."""


def put_over_blind(
    table: ScoreTable,
    scorer: Scorer,
    *,
    evaluations: int = _EVALUATIONS,
    seed: int = 42,
    progress: Callable[[int, int], object] = lambda _done, _total: None,
) -> None:
    """Compute ``OVER``, ``ABOVE``, ``BLIND`` and ``PERSON`` of a scorer's answers in a table.

    ``OVER`` has no value where people are not surely above blind: the scale has no length there.
    TrialError for what hears or asks a model, and where nobody's caption can be held out.
    """
    searched = blind.searched_scorer(f"{'judge' if scorer.judge else 'metric'}:{scorer.name}")
    if isinstance(table, RunTable) and table.raced:
        raise TrialError("a race stopped this run; from blind to people is of whole runs")
    lots, asked, answers = random.Random(seed), table.group(scorer).samples, answers_of(table)
    samples, people = hold_people_out([one for one in asked if one.id in answers], lots)
    weights = table.aggregation.weights if table.aggregation else {"": 1.0}
    corpora = grouped((one.category if table.aggregation else "", one) for one in samples)
    if small := [name for name in weights if len(corpora[name]) < FEWEST]:
        where = f" of {small[0]}" if small[0] else ""
        raise TrialError(
            f"{scorer.label} has no scale from blind to people: {len(corpora[small[0]])} answered "
            f"samples{where} have two references, one to hold to the others; it takes {FEWEST}"
        )
    chosen = list(map(corpora.__getitem__, weights))
    said = blind_captions(chosen, people, searched, lots, evaluations, progress)

    def scores(texts: Mapping[str, str]) -> SampleScores:
        own = {one.id: texts[one.id] for one in samples}
        if scorer.judge is None:
            made = score_groups(table.aggregation, [scorer.name], samples, own)
            return made.table.sample_scores(scorer)
        result = searched.score([*own.values()], [one.references for one in samples])
        values = dict(zip(own, result.samples.tolist(), strict=True))
        return SampleScores.of_values(values, result.signature, {})

    columns = [scores(own) for own in (answers, said, people)]
    group = make_groups({ALL: samples}, table.aggregation)[ALL]
    found = blind_scale(group, scorer, columns, Coverage(len(asked), len(samples), 0))
    made = columns[0].signatures[samples[0].id].with_fields(scale="blind", evaluations=evaluations)
    table.computed.update(
        {(scorer, key): replace(one, signature=made) for key, one in found.items()}
    )


def hold_people_out(
    samples: Iterable[Sample], lots: random.Random
) -> tuple[list[Sample], dict[str, str]]:
    """Samples of two references or more without one of them, and that one, a person's."""
    people, held = dict[str, str](), list[Sample]()
    for one in samples:
        if len(own := blind.distinct(one.references)) > 1:
            people[one.id], *others = lots.sample(own, len(own))
            held.append(replace(one, references=tuple(others)))
    return held, people


def blind_captions(
    corpora: Sequence[Sequence[Sample]],
    people: Mapping[str, str],
    searched: blind.SearchedScorer,
    lots: random.Random,
    evaluations: int,
    progress: Callable[[int, int], object],
) -> dict[str, str]:
    """The best caption that hears nothing of each sample, searched for on others of its corpus."""
    said, before = dict[str, str](), 0
    for corpus in corpora:
        own = [people[one.id] for one in corpus] if people else None
        held = blind.HeldOutClips([tuple(one.references) for one in corpus], own, None)
        both = blind.halves(len(corpus), lots)
        for learnt, other in (both, both[::-1]):
            seen = held.part(learnt)
            climb = blind.Climb(searched, "sentence", seen, blind.Language(seen, lots))
            for done in climb.rounds(evaluations):
                progress(before + done, 2 * evaluations * len(corpora))
            before += evaluations
            said |= dict.fromkeys((corpus[place].id for place in other), climb.best()[0])
    return said


def blind_scale(
    group: Group, scorer: Scorer, columns: Sequence[SampleScores], coverage: Coverage
) -> dict[GroupKey, Estimate]:
    """What a model, who hears nothing and, where there is one, a person get, in that order."""
    spread, aggregate = np.hstack(list(map(group.table, columns))), group.aggregate_of(scorer)

    def estimate(of: Callable[[FloatArray], FloatArray]) -> Estimate:
        def whole(means: FloatArray) -> FloatArray:
            sides = aggregate(means.reshape(*means.shape[:-1], len(columns), -1))
            return of(np.moveaxis(sides, -1, 0))

        value = float(whole(spread.mean(axis=0)[np.newaxis])[0])
        interval = mean_interval(spread, whole, clusters=group.clusters)
        return Estimate(value, len(spread), coverage, interval=interval)

    found = {BLIND: estimate(lambda side: side[1]), ABOVE: estimate(lambda side: side[0] - side[1])}
    if len(columns) > 2:
        found[PERSON] = estimate(lambda side: side[2])
        found[OVER] = estimate(lambda side: (side[0] - side[1]) / (side[2] - side[1]))
        if not _is_above_0(estimate(lambda side: side[2] - side[1])):
            found[OVER] = replace(found[OVER], value=None, interval=None)
    return found


def over_blind(table: ScoreTable, scorer: Scorer) -> dict[GroupKey, Estimate]:
    """What is known of a scorer over blind, if anything is."""
    found = {
        key: table.computed.get((scorer, key)) or table.kept.get((scorer.label, str(key)))
        for key in (OVER, ABOVE, BLIND, PERSON)
    }
    return {key: one for key, one in found.items() if one is not None}


def blind_warnings(label: str, table: ScoreTable, scorer: Scorer) -> list[str]:
    """What is to be said where a model, or even a person, is not surely above blind."""
    if not (found := over_blind(table, scorer)):
        return []
    against = f"{found[BLIND].value:.3f} that captions which hear nothing get by {scorer.label}"
    said = []
    if found[OVER].value is None:
        said.append(f"people, with {found[PERSON].value:.3f}, are not surely above the {against}")
    if not _is_above_0(found[ABOVE]):
        low, high = found[ABOVE].interval or (-np.inf, np.inf)
        said.append(f"{label} is not surely above the {against}: {low:+.3f} to {high:+.3f} (95 %)")
    return said


def _is_above_0(one: Estimate) -> bool:
    return one.interval is not None and one.interval.low > 0


def answers_of(table: ScoreTable) -> Mapping[str, str]:
    """The texts that can be scored, by sample."""
    if not isinstance(table, RunTable):
        return table.texts
    texts = {key: one.reply.text or "" for key, one in table.outcomes.items()}
    return {key: text for key, text in texts.items() if table.replies[key] in HAVE_TEXT}
