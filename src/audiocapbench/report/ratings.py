"""What people and judges say of captions: ratings, preferences and audits."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from audiocapbench.data.opinions import Opinions
from audiocapbench.errors import ReportError, check_known
from audiocapbench.files import read_lists
from audiocapbench.grouping import grouped
from audiocapbench.meta.pairs import VOTES, CaptionPair, said_choice
from audiocapbench.meta.trial import ScorerTrial, trial_facts
from audiocapbench.meta.votes import model_votes, one_against_rest
from audiocapbench.metrics import compute
from audiocapbench.metrics.result import FloatArray, first_column
from audiocapbench.stats import correlation as effects
from audiocapbench.stats import mean_interval
from audiocapbench.stats.bootstrap import difference_interval
from audiocapbench.stats.multiple import Correction, corrected
from audiocapbench.stats.shares import wilson
from audiocapbench.stats.votes import Vote, strengths
from audiocapbench.table import Column, Findings, Row, Table, ValueWithInterval, signature_notes

if TYPE_CHECKING:
    from audiocapbench.annotate.stage import StageContext

NOTES: dict[str, str] = read_lists("audiocapbench.report", "notes.toml")["people"]
_ALL = "all"
_SHARES = ("at_least_baseline", "lowest")
_FARTHEST = 1e6
"""No scale goes farther; sums of numbers that do are not what they seem."""


def rating_report(people: Opinions, baseline: float, compare: Sequence[str] = ()) -> Findings:
    """Ratings by group: whether they lie above a baseline, and how far groups differ.

    An item that several people rated counts once, with their mean. Comparisons are ``A:B`` or
    ``A+B:C+D``; two groups are compared without being asked.
    """
    if not abs(baseline) <= _FARTHEST:
        raise ReportError(f"{baseline} is no baseline of ratings")
    items: dict[tuple[str, str], list[float]] = {}
    for one, value in people.numbers(-_FARTHEST, _FARTHEST):
        # What two runs say of a clip are two things that were rated.
        key = one.group or _ALL, f"{one.run} {one.item or one.where}"
        items.setdefault(key, []).append(value)
    said = (f"{people.source}: {note}." for note in people.notes)
    return _rated_groups(items, baseline, compare, said)


def _rated_groups(
    items: Mapping[tuple[str, str], Sequence[float]],
    baseline: float,
    compare: Sequence[str] = (),
    said: Iterable[str] = (),
) -> Findings:
    means = grouped((group, float(np.mean(values))) for (group, _), values in items.items())
    groups = {name: np.array(values) for name, values in means.items()}
    averaged = sum(len(values) > 1 for values in items.values())
    if len(groups) == 2 and not compare:
        compare = [":".join(groups)]
    differences = _bonferroni([_compared(groups, one) for one in dict.fromkeys(compare)])
    every = np.concatenate(list(groups.values()))
    rated = [
        {
            "group": name,
            "n": len(values),
            "mean": mean_of(values),
            "at_least_baseline": share_of(values >= baseline),
            "lowest": share_of(values == every.min()),
            "rank_biserial": effect_of(partial(effects.rank_biserial, baseline=baseline), values),
            "cohens_d": effect_of(partial(effects.cohens_d, baseline=baseline), values),
            "p": effects.signed_rank_p(values, baseline),
        }
        for name, values in [(_ALL, every), *(groups.items() if len(groups) > 1 else ())]
    ]
    rows = [rated[0] | {"p_bonferroni": None}, *_bonferroni(rated[1:])]
    shares = f"lowest: rated {every.min():g}, the lowest of all; intervals of shares are Wilson's."
    notes = [f"p: Wilcoxon's test that ratings are above {baseline:g}; {shares}", *said]
    if averaged:
        notes.append(f"An item counts once; {averaged:,} have several ratings.")
    if any(_parts(one["first"]) & _parts(one["second"]) for one in differences):
        notes.append("A group stands on both sides; p takes all ratings for independent.")
    columns = [Column(name, form="%" if name in _SHARES else "") for name in rows[0]]
    compared = "Groups of ratings (Mann–Whitney, two-sided)"
    held = Table(f"Ratings, held against {baseline:g}", rows, columns, notes, name="groups")
    tables = [held, Table(compared, differences, name="comparisons")]
    return Findings(tables, {"baseline": baseline, "notes": notes})


_AGREEMENT = ("alpha", "alpha_ordinal", "kappa", "icc", "icc_mean", "one_against_rest")


def agreement_report(people: Opinions) -> Findings:
    people.refuse(people.problems)
    if not people.given or not all(one.person for one in people.given):
        raise ReportError(
            f"{people.source} does not say who rated what; agreement needs 'person', or "
            "a column of votes a person: vote_1, vote_2 and so on"
        )
    given = grouped(
        (one.dimension, (f"{one.run} {one.item}", one.person, one.value)) for one in people.given
    )
    said = {name: _as_votes(own) for name, own in given.items()}
    rows = [agreement_row(name, own) for name, own in said.items()]
    kinds = {f"{one.run} {one.item}": one.group for one in people.given}
    ceilings = {name: one for name, own in said.items() if (one := _ceiling(own, kinds))}
    held = [
        {"dimension": name, "by": field, "pairs": group, "n": own["accuracy"].n}
        | {"one_against_rest": own["accuracy"]}
        for name, person in ceilings.items()
        for field in ("type", "strength")
        for group, own in person.groups[field].items()
    ]
    shown = [
        row | {name: effects.Coefficient(row[name], row[f"{name}_ci"]) for name in _AGREEMENT}
        for row in rows
    ]
    notes = [
        NOTES["agreement"],
        f"95 % intervals are over items, and take {effects.FEWEST_UNITS} that differ.",
        *(f"{people.source}: {note}." for note in people.notes),
    ]
    columns = [Column(one) for one in ("dimension", "people", "items")]
    columns += [Column(one, form=".2f") for one in _AGREEMENT]
    parts = [Column(one) for one in ("dimension", "by", "pairs", "n")]
    parts.append(Column("one_against_rest", form=".1f"))
    title = "One person against the rest, by type and by how many more votes one caption has"
    tables = [Table("How far people agree", shown, columns, notes), Table(title, held, parts)]
    facts = {name: trial_facts(one) for name, one in ceilings.items()}
    return Findings(tables if held else tables[:1], {"agreement": rows, "ceiling": facts})


def _as_votes(said: Sequence[tuple[str, str, str]]) -> Sequence[tuple[str, str, str]]:
    """Votes in one spelling, whatever they are written as; of ratings nothing is changed."""
    names = {one: said_choice(one) for _, _, one in said}
    if not {*names.values()} <= VOTES.keys() or not any(one.isidentifier() for one in names):
        return said
    return [(item, who, ("tie", "a", "b")[VOTES[names[one]]]) for item, who, one in said]


def agreement_row(dimension: str, said: Sequence[tuple[str, str, Any]]) -> Row:
    """How far people agree, from an item, a person and what they said of it each."""
    by_item: dict[str, dict[str, Any]] = {}
    for item, person, value in said:
        by_item.setdefault(item, {})[person] = value
    shared = [own for own in by_item.values() if len(own) > 1]
    people = sorted({name for own in shared for name in own})
    values = sorted({one for own in shared for one in own.values()})
    try:
        numbers, named = dict(zip(values, map(float, values), strict=True)), dimension == "pick"
    except ValueError:
        numbers, named = {one: float(place) for place, one in enumerate(values)}, True
    table = np.array([[numbers.get(own.get(who), np.nan) for own in shared] for who in people])
    table = table.reshape(len(people), len(shared))
    usual = Counter(map(len, shared)).most_common(1)[0][0] if shared else 0
    same = np.array([[numbers[one] for one in own.values()] for own in shared if len(own) == usual])
    ceiling, unknown = _ceiling(said), effects.Coefficient()
    against_rest = ceiling.whole["accuracy"] if ceiling else unknown
    found = (
        effects.krippendorff_alpha(table, "nominal" if named else "interval"),
        unknown if named else effects.krippendorff_alpha(table, "ordinal"),
        effects.rated_kappa(same.T),
        *((unknown, unknown) if named else effects.intraclass(table)),
        effects.Coefficient(against_rest.value, against_rest.interval),
    )
    row: Row = {"dimension": dimension, "people": len(people), "items": len(shared)}
    for name, one in zip(_AGREEMENT, found, strict=True):
        row |= one.fields(name)
    return row


def _ceiling(
    said: Sequence[tuple[str, str, Any]], kinds: Mapping[str, str] | None = None
) -> ScorerTrial | None:
    """How often a vote for a caption is that of most others on the pair; None without votes."""
    said_once = {(item, person): said_choice(str(value)) for item, person, value in said}
    if not {*said_once.values()} <= VOTES.keys():
        return None
    pairs = []
    for item, own in grouped((item, VOTES[one]) for (item, _), one in said_once.items()).items():
        kind = (kinds or {}).get(item) or _ALL
        pairs.append(CaptionPair(item, item, "", "", None, kind, kind, votes=tuple(own)))
    return one_against_rest(pairs)


def win_report(
    pairs: Sequence[CaptionPair], metrics: Sequence[str] = (), beside: Iterable[Table] = ()
) -> Findings:
    sided = [one if one.answer == 0 else one.swapped() for one in pairs if one.answer is not None]
    if not sided:
        raise ReportError("people preferred no caption of any pair: all are undecided")
    if metrics and not all(one.references_first and one.references_second for one in sided):
        raise ReportError("some pairs have no references, and metrics need them for each")
    types = [_ALL, *dict.fromkeys(one.type for one in pairs if one.type != _ALL)]
    rows: list[Row] = []
    for name in types:
        answers = [one.answer for one in pairs if name in (_ALL, one.type)]
        wins = np.array([one == 0 for one in answers if one is not None], dtype=bool)
        row = {"pairs": name, "n": len(wins), "undecided": len(answers) - len(wins)}
        rows.append(row | {"first_wins": share_of(wins)})
    scored = _scored(sided, metrics) if metrics else []
    columns = ("pairs", "n", "undecided", Column("first_wins", form="%"))
    how_often = "How often people prefer the first caption (Wilson's intervals)"
    title = "Scores of captions that people prefer, and of the others, with 95 % intervals"
    names = ("metric", "n", "preferred", "other", "difference")
    notes = signature_notes(one["signature"] for one in scored)
    scores = Table(title, scored, names, notes, "metrics")
    first = Table(how_often, rows, columns, name="types")
    shown = _model_wins(votes) if (votes := model_votes(pairs)) else [first]
    return Findings([*shown, *beside, scores], {"n": len(sided), "types": first.objects()})


def _model_wins(votes: Sequence[Vote]) -> list[Table]:
    """Who people prefer, by name: each to all others, where votes link them, and to each other."""
    notes, rows, ranked = list[str](), list[Row](), list[Row]()
    by_pair = grouped((frozenset(one[:2]), one) for one in votes)
    for own in [*by_pair.values(), *([votes] if len(by_pair) > 1 else [])]:
        try:
            found = strengths(own)
        except ReportError as error:
            notes.append(f"{error}.")
            continue
        if own is votes:
            notes += found.notes
            ranked = [
                {"ranks": f"{ranks}", "model": name, "preferred": one, "votes": found.votes[name]}
                for ranks, (name, one) in zip(found.ranks, found.models.items(), strict=True)
            ]
            continue
        (better, share), (worse, _) = found.models.items()
        notes += [f"{better} and {worse}: {one}" for one in found.notes]
        row: Row = {"model": better, "to": worse, "votes": len(own)}
        row["ties"] = sum(one.preferred == 0 for one in own)
        rows.append(row | {"preferred": share})
    share_column, notes = Column("preferred", form="%"), list(dict.fromkeys(notes))
    strong = "How often people would prefer a model to another of these (Bradley and Terry's model)"
    often = "How often people prefer a model's captions to another's, a tie counting half"
    return [
        Table(strong, ranked, ("ranks", "model", share_column, "votes"), name="strengths"),
        Table(often, rows, ("model", "to", "votes", "ties", share_column), notes, "models"),
    ]


def _compared(groups: Mapping[str, FloatArray], words: str) -> Row:
    first, colon, second = words.partition(":")
    if not colon:
        raise ReportError(f"{words!r} does not name two groups; write A:B, or A+B:C+D")
    for name in sorted(_parts(first) | _parts(second)):
        check_known("group", name, groups, ReportError)
    one, two = (
        np.concatenate([groups[name] for name in sorted(_parts(side))]) for side in (first, second)
    )
    return {
        "first": first,
        "second": second,
        "n_first": len(one),
        "n_second": len(two),
        "mean_first": float(one.mean()),
        "mean_second": float(two.mean()),
        "cliffs_delta": effect_of(effects.cliffs_delta, one, two),
        "cohens_d": effect_of(effects.cohens_d, one, two),
        "p": effects.rank_sum_p(one, two),
    }


def _parts(side: object) -> set[str]:
    return set(str(side).split("+"))


def _bonferroni(rows: Sequence[Row]) -> list[Row]:
    known = np.array([one["p"] for one in rows if one["p"] is not None], dtype=np.float64)
    adjusted = iter(corrected(known, Correction.BONFERRONI).tolist())
    return [{**one, "p_bonferroni": None if one["p"] is None else next(adjusted)} for one in rows]


def _scored(pairs: Sequence[CaptionPair], metrics: Sequence[str]) -> list[Row]:
    clips = [one.clip for one in pairs]
    first, second = [one.first for one in pairs], [one.second for one in pairs]
    preferred = compute(metrics, first, [one.references_first for one in pairs])
    others = compute(metrics, second, [one.references_second for one in pairs])
    rows: list[Row] = []
    for one, two in zip(preferred, others, strict=True):
        row: Row = {"metric": one.name, "n": len(pairs)}
        for name, side in (("preferred", one), ("other", two)):
            interval = mean_interval(side.statistics, side.aggregate, clusters=clips)
            row[name] = ValueWithInterval(side.score, interval)
        sides = one.statistics, two.statistics
        interval = difference_interval(*sides, one.aggregate, clusters=clips)
        row["difference"] = ValueWithInterval(one.score - two.score, interval)
        rows.append(row | {"signature": str(one.signature)})
    return rows


def effect_of(effect: Callable[..., float | None], *groups: FloatArray) -> ValueWithInterval:
    return ValueWithInterval(effect(*groups), effects.effect_interval(effect, *groups))


def mean_of(values: FloatArray) -> ValueWithInterval:
    interval = mean_interval(values[:, np.newaxis], first_column)
    return ValueWithInterval(float(values.mean()), interval)


def share_of(hits: Any) -> ValueWithInterval:
    count, total = int(sum(hits)), len(hits)
    return ValueWithInterval(*((count / total, wilson(count, total)) if total else (None, None)))


def audit_report(context: "StageContext", people: Sequence[str]) -> Findings:
    from audiocapbench.annotate.audit import BASIC, read_audit

    pairs, ratings, unrated = read_audit(context, people)
    tables: list[Table] = []
    facts: dict[str, Any] = {"unrated": unrated}
    if any(one.answer is not None for one in pairs):
        won = win_report(pairs)
        tables += won.tables()
        facts["wins"] = won.to_dict()
    if ratings:
        every = np.array([np.mean(values) for values in ratings.values()])
        rows: list[Row] = [
            {"annotations": name, "n": len(every), "share": share_of(hits)}
            for name, hits in (
                ("rejected: below a basic match (3)", every < BASIC),
                ("no match (1)", every == 1),
                ("high match (4 or 5)", every >= 4),
            )
        ]
        # The paper compares clips of speech with clips of other sounds.
        domains = dict.fromkeys(domain for domain, _ in ratings)
        sides = ["+".join(one for one in domains if letter in one) for letter in "SA"]
        compare = [":".join(sides)] if all(sides) and sides[0] != sides[1] else []
        rated = _rated_groups(ratings, BASIC, compare)
        kept = context.settings["audit"]
        notes = [f"{unrated:,} items of the sheets have no rating."] if unrated else []
        notes.append(f"{len(kept['rejected']):,} that people rejected leave the next 'split'.")
        if kept["margin"] is not None:
            notes.append(
                f"Similarity parts them best from the rest at --margin {kept['margin']:.2f}."
            )
        facts |= {key: kept[key] for key in ("rejected", "residual_ci", "margin")}
        columns = ("annotations", "n", Column("share", form="%"))
        shares = Table("Annotations as people rate them", rows, columns, notes)
        tables += [*rated.tables(), shares]
        facts |= {"ratings": rated.to_dict(), "shares": shares.objects()}
    return Findings([replace(one, name="") for one in tables], facts)
