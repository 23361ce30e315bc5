"""Builds a trial as BRACE did: pairs of captions that people and machines wrote, to be voted on.

Of every clip: two people's captions (HH), a person's and a machine's (HM), two machines' (MM); in
HM_2 and MM_2 the machine's caption is broken on purpose. That answer tries voters; it is no vote,
and only what was voted on is kept.
"""

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from audiocapbench.errors import DatasetError, MetricError, TrialError
from audiocapbench.meta.corrupt.captions import CaptionedClip, CaptionSet, plain_form, words_of
from audiocapbench.meta.corrupt.make import RULES, pair_table, write_clips
from audiocapbench.meta.pairs import CaptionPair, Pairs, preferred, read_csv_pairs
from audiocapbench.meta.published_pairs import BRACE_MAIN
from audiocapbench.meta.scorers.scorer import Choice, PairScorer, PointwiseScorer
from audiocapbench.meta.trial import CHOSEN, agreeing
from audiocapbench.metrics import find_metric
from audiocapbench.metrics.elements.splitting import kind_of, meaning_of

HUMAN, BROKEN = "human", "broken"
_CLOSEST = 0.25

_Writing = tuple[str, str]  # A caption and who wrote it


def build_pairs(
    captions: CaptionSet, machines: Mapping[str, Mapping[str, str]], seed: int
) -> tuple[list[CaptionPair], dict[str, tuple[str, str]]]:
    """Pairs of every clip, on sides that the seed draws, and who wrote their captions."""
    known = {clip.id for clip in captions.clips}
    for system, texts in machines.items():
        if not known & texts.keys():
            raise DatasetError(f"{system} has no caption of any of the {len(known):,} clips")
    broken = _break(captions, machines, seed)
    pairs: list[CaptionPair] = []
    sources: dict[str, tuple[str, str]] = {}
    for clip in captions.clips:
        draw = random.Random(f"{seed} {clip.id}")
        for subtype, left, right in _writings(clip, machines, broken, draw):
            if words_of(left[0]) == words_of(right[0]):
                continue
            (first, source), (second, other) = draw.sample((left, right), 2)
            name = f"{clip.id}/{subtype}"
            sources[name] = (source, other)
            was_set = BROKEN in source or BROKEN in other
            answer = preferred([1 if BROKEN in other else -1]) if was_set else None
            said = map(plain_form, clip.references)
            held = tuple(text for text in said if text not in (first, second))
            about = (answer, subtype[:2], subtype, "", held, held, (), clip.audio, was_set)
            pairs.append(CaptionPair(name, clip.id, first, second, *about))
    return pairs, sources


def _writings(
    clip: CaptionedClip,
    machines: Mapping[str, Mapping[str, str]],
    broken: Mapping[tuple[str, str], str],
    draw: random.Random,
) -> Iterator[tuple[str, _Writing, _Writing]]:
    """The pairs of a clip, as many of BRACE's types as there are captions for."""
    people = [(plain_form(text), HUMAN) for text in clip.references]
    draw.shuffle(people)
    told = ((name, texts[clip.id]) for name, texts in machines.items() if clip.id in texts)
    own = [(plain_form(text), name) for name, text in told]
    draw.shuffle(own)
    wrong = ((one, broken.get((clip.id, one[1]))) for one in own)
    bad = [(one, (text, f"{one[1]} {BROKEN}")) for one, text in wrong if text]
    if len(people) > 1:
        yield "HH", people[0], people[1]
    if own:
        yield "HM_1", people[-1], own[0]
    if bad:
        yield "HM_2", people[0], bad[-1][1]
        yield "MM_2", bad[0][0], bad[0][1]
    if len(own) > 1:
        yield "MM_1", own[0], own[1]
    if len(own) > 2:
        yield "MM_3", own[1], own[2]


def _break(
    captions: CaptionSet, machines: Mapping[str, Mapping[str, str]], seed: int
) -> dict[tuple[str, str], str]:
    """Machines' captions with one thing made wrong by rule that people say as the machine did."""
    # What another machine says of the clip is no error that can be put in: all are one clip's.
    told = list(machines.values())
    clips = tuple(
        replace(clip, references=(*clip.references, *(own.get(clip.id, "") for own in told)))
        for clip in captions.clips
    )
    said = {clip.id: clip.meanings for clip in captions.clips}
    systems, found, texts = list(machines), defaultdict(list), CaptionSet(clips)
    for one in (one for rule in RULES.values() for one in rule(texts)):
        place = one.number - (len(one.clip.references) - len(systems))
        gone = {*words_of(one.true)} - {*words_of(one.false)}
        meant = {meaning_of(word) for word in gone if kind_of(word) is not None}
        if place >= 0 and meant and meant <= said[one.clip.id]:
            found[one.clip.id, systems[place]].append(one.false)
    return {key: random.Random(f"{seed} {key}").choice(texts) for key, texts in found.items()}


def filter_pairs(pairs: Pairs, scorer: PairScorer) -> list[CaptionPair]:
    """The pairs that a scorer can tell apart, whichever it takes; they name it."""
    choices = scorer.choose(pairs)
    if isinstance(scorer, PointwiseScorer):
        # All but the quarter with the smallest differences.
        first, second = scorer.score(pairs)
        gaps = np.abs(first - second)
        known = gaps[~np.isnan(gaps)]
        least = float(np.quantile(known, _CLOSEST)) if len(known) else 0.0
        told = [bool(gap >= least and gap > 0) for gap in gaps]
    elif scorer.sees_both:
        told = agreeing(choices, scorer.choose_swapped(pairs))
    else:
        told = [choice in CHOSEN for choice in choices]
    both = zip(pairs, choices, told, strict=True)
    kept = [pair for pair, choice, clear in both if clear and choice is not Choice.TIE]
    return [replace(pair, filtered_by=scorer.name) for pair in kept]


def refuse_filters(pairs: Pairs) -> Callable[[PairScorer], PairScorer]:
    """Refuses a scorer that chose which pairs there are, is made of the one that did, or is a part
    of it: it would be tried on its easy ones."""
    filters = dict.fromkeys(one.filtered_by for one in pairs if one.filtered_by)

    def check(scorer: PairScorer) -> PairScorer:
        own = scorer.name.partition("[")[0]
        for name in filters:
            chose = name.partition("[")[0]
            if own in _parts_of(name) or chose in _parts_of(scorer.name):
                how = "a part" if own in _parts_of(name) else "made"
                why = "" if own == chose else f"; {scorer.name} is {how} of it"
                what = f"chose these pairs ('meta build --filter'){why}"
                mend = "build them with another filter, or without one"
                raise TrialError(f"{name} {what}, and cannot be tried on them; {mend}")
        return scorer

    return check


def _parts_of(scorer: str) -> set[str]:
    """A scorer and all that its score is made of, without options."""
    kind, _, own = scorer.partition(":")
    found = {scorer.partition("[")[0]}
    if kind == "metric":
        try:
            metric, parsed = find_metric(own)
        except MetricError:  # a plug-in that is not here
            return found
        heard = (
            f"{key}:{parsed.options[key]}" for key in metric.hears_with if key in parsed.options
        )
        return found.union(*map(_parts_of, (*metric.made_of, *heard)))
    return found


def read_votes(path: Path, least: int) -> list[CaptionPair]:
    """Read a table that people voted in; an answer needs at least so many votes to spare."""
    found = read_csv_pairs(path)
    if not any(pair.votes for pair in found):
        raise DatasetError(f"{path}: nobody voted; fill in columns vote_1 and on with a, b, tie")
    if not any(vote for pair in found for vote in pair.votes):
        raise DatasetError(f"{path}: all votes are ties; nobody prefers a caption of any pair")
    return [replace(pair, answer=preferred(pair.votes, least)) for pair in found]


def vote_table(suffix: str, pairs: Pairs, voters: int) -> str:
    """A table for people to vote in, or what their votes left, as 'meta csv' reads it."""
    cast = [[{1: "a", -1: "b", 0: "tie"}[vote] for vote in pair.votes] for pair in pairs]
    more = [[*own, *[""] * (voters - len(own))] for own in cast]
    names = [f"vote_{n + 1}" for n in range(voters)]
    if any(pair.filtered_by for pair in pairs):
        names.append("filter")
        more = [[*own, pair.filtered_by] for own, pair in zip(more, pairs, strict=True)]
    return pair_table(suffix, pairs, names, more)


def write_brace(path: Path, pairs: Pairs) -> None:
    """Write pairs that were voted on in BRACE-Main's form."""
    names = {short: name for name, short in BRACE_MAIN.items()}

    def add(clip: dict[str, Any], pair: CaptionPair) -> None:
        if pair.subtype not in names:
            raise DatasetError(f"{path}: {pair.id!r} has no type of BRACE's")
        told = clip.setdefault("references", [])
        told += [one for one in pair.references_first if one not in told]
        clip[names[pair.subtype]] = [pair.first, pair.second, "", "", list(pair.votes)]
        if pair.filtered_by:
            clip["filter"] = pair.filtered_by

    write_clips(path, pairs, add)


def count_types(pairs: Pairs) -> dict[str, int]:
    return dict(sorted(Counter(pair.subtype for pair in pairs).items()))
