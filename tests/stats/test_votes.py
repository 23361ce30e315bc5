"""Strengths of models by votes, against published figures, another way, and the truth."""

from itertools import combinations, product

import numpy as np
import pytest

from audiocapbench.errors import ReportError
from audiocapbench.stats.votes import Strengths, Vote, strengths

# The American League of 1987, how often each team beat each other (Agresti, 1990).
TEAMS = ("Milwaukee", "Detroit", "Toronto", "New York", "Boston", "Cleveland", "Baltimore")
WINS = (
    (0, 7, 9, 7, 7, 9, 11),
    (6, 0, 7, 5, 11, 9, 9),
    (4, 6, 0, 7, 7, 8, 12),
    (6, 8, 6, 0, 6, 7, 10),
    (6, 2, 6, 7, 0, 7, 12),
    (4, 4, 5, 6, 6, 0, 6),
    (2, 4, 1, 3, 1, 7, 0),
)
PRINTED = (1.58, 1.44, 1.29, 1.25, 1.11, 0.68, 0.0)


def drawn(
    seed: int, true: list[float], people: int, clips: int, each: int, ties: float = -0.5
) -> list[Vote]:
    """Votes of people with a taste of their own on clips that suit some models."""
    draw, models = np.random.default_rng(seed), len(true)
    taste, suited = draw.normal(0, 0.5, (people, models)), draw.normal(0, 0.5, (clips, models))
    who, clip = np.repeat(np.arange(people), each), draw.integers(0, clips, people * each)
    first = draw.integers(0, models, len(who))
    second = (first + draw.integers(1, models, len(who))) % models
    own = np.array(true) + taste[who] + suited[clip]
    apart = np.take_along_axis(own, np.column_stack([first, second]), 1) @ [1, -1]
    shares = np.exp([apart / 2, -apart / 2, np.full(len(who), ties)])
    shares /= shares.sum(axis=0)
    chance = draw.random(len(who))
    said = np.where(chance < shares[0], 1, np.where(chance < shares[:2].sum(axis=0), -1, 0))
    return [
        Vote(f"m{a}", f"m{b}", int(one), f"p{p}", f"c{c}")
        for a, b, one, p, c in zip(first, second, said, who, clip, strict=True)
    ]


def figures(found: Strengths) -> list[float]:
    ends = [end for one in found.models.values() for end in one.interval or ()]
    return [*(one.value or 0.0 for one in found.models.values()), *ends]


def test_strengths_are_those_that_agresti_prints() -> None:
    votes = [
        Vote(one, other, 1, f"p{number % 8}", f"{one} {other} {number}")
        for one, row in zip(TEAMS, WINS, strict=True)
        for other, won in zip(TEAMS, row, strict=True)
        for number in range(won)
    ]
    found = strengths(votes)
    assert list(found.models) == list(TEAMS)
    odds = np.exp(np.subtract.outer(PRINTED, PRINTED))
    expected = ((odds / (1 + odds)).sum(axis=1) - 0.5) / 6
    assert [one.value for one in found.models.values()] == pytest.approx(expected, abs=2e-3)
    for one in found.models.values():
        low, high = one.interval or (1.0, 0.0)
        assert low < (one.value or 0) < high


def test_ties_are_davidsons_and_two_models_have_their_plain_shares() -> None:
    from scipy import optimize

    votes = drawn(1, [0.0, 0.4, 1.2], 8, 30, 40)
    at = [(int(one.first[1]), int(one.second[1]), one.preferred) for one in votes]

    def loss(given: np.ndarray) -> float:
        total = 0.0
        for first, second, said in at:
            one, other = np.exp([given[first], given[second]])
            tie = np.exp(given[3]) * np.sqrt(one * other)
            total -= np.log({1: one, -1: other, 0: tie}[said] / (one + other + tie))
        return float(total + given[:3].sum() ** 2)

    best = optimize.minimize(loss, np.zeros(4), tol=1e-9).x
    one, other = np.exp(best[:3, np.newaxis]), np.exp(best[:3])
    tie = np.exp(best[3]) * np.sqrt(one * other)
    wins = (one + tie / 2) / (one + other + tie)
    for place in range(3):
        share = (wins[place].sum() - 0.5) / 2
        assert strengths(votes).models[f"m{place}"].value == pytest.approx(share, abs=1e-4)
    two = [one for one in votes if {one.first, one.second} == {"m0", "m2"}]
    plain = np.mean([(1 + one.preferred * (1 if one.first == "m2" else -1)) / 2 for one in two])
    assert strengths(two).models["m2"].value == pytest.approx(plain, abs=1e-9)


def test_the_order_of_votes_and_the_names_of_people_change_nothing() -> None:
    votes = drawn(2, [0.0, 0.5, 1.0], 6, 20, 30)
    mixed = [votes[place] for place in np.random.default_rng(0).permutation(len(votes))]
    turned = [
        Vote(one.second, one.first, -one.preferred, f"x{one.person[::-1]}", one.clip)
        for one in mixed
    ]
    assert figures(strengths(turned)) == pytest.approx(figures(strengths(votes)), abs=1e-8)
    assert strengths(turned).ranks == strengths(votes).ranks


def test_no_interval_below_five_people_or_what_they_are_worth() -> None:
    votes = drawn(3, [0.0, 1.0, 2.0], 4, 30, 40)
    few = strengths(votes)
    assert len(figures(few)) == 3
    assert "takes 5 people" in few.notes[0]
    assert {tuple(one) for one in few.ranks} == {(1, 3)}, "without tests all ranks are open"
    one_many = [*votes, *(Vote("m0", "m1", 1, f"q{n}", f"c{n}") for n in range(3))]
    assert "7 people on 30 clips are worth 4." in strengths(one_many).notes[0]
    nobody = [one._replace(person="") for one in drawn(3, [0.0, 1.0], 9, 30, 9)]
    assert "do not say whose" in strengths(nobody).notes[0]


def test_who_won_every_vote_is_first_without_an_interval_and_others_keep_theirs() -> None:
    votes = drawn(4, [0.0, 0.3], 8, 30, 20)
    best = [Vote("best", f"m{n % 2}", 1, f"p{n % 8}", f"c{n % 30}") for n in range(40)]
    found = strengths(votes + best)
    assert next(iter(found.models)) == "best"
    assert found.models["best"].interval is None
    assert 0.9 < (found.models["best"].value or 0) < 1
    assert "best" in found.notes[0]
    assert found.models["m0"].interval is not None


def test_models_that_no_vote_links_are_refused_by_name() -> None:
    apart = [Vote("a", "b", 1, "p", "c"), Vote("b", "a", 1, "p", "d"), Vote("x", "y", 0, "p", "c")]
    with pytest.raises(ReportError, match="no vote links a, b with x, y"):
        strengths(apart)
    with pytest.raises(ReportError, match="nobody preferred a model"):
        strengths(apart[2:])


@pytest.mark.slow
@pytest.mark.parametrize(("people", "clips", "each"), [(5, 40, 30), (12, 20, 15)])
@pytest.mark.parametrize("true", [[0.0, 0.0, 0.0], [0.0, 0.4, 1.5]])
def test_intervals_hold_the_truth_where_people_and_clips_differ(
    people: int, clips: int, each: int, true: list[float]
) -> None:
    truth = strengths(drawn(99, true, 1500, 1500, 20)).models
    found = [strengths(drawn(seed, true, people, clips, each)) for seed in range(100)]
    held = [
        low <= (truth[name].value or 0) <= high
        for one in found
        for name, (low, high) in (
            (name, own.interval or (1, 0)) for name, own in one.models.items()
        )
    ]
    assert np.mean(held) >= 0.93
    if not any(true):
        wrong = [any(tuple(rank) != (1, 3) for rank in one.ranks) for one in found]
        assert np.mean(wrong) <= 0.08


def test_votes_of_one_person_rank_without_intervals() -> None:
    votes = [
        Vote("one", "two", said, "ana", clip) for said, clip in ((1, "x"), (-1, "y"), (0, "z"))
    ]
    found = strengths(votes)
    assert {one.interval for one in found.models.values()} == {None}
    assert {*map(str, found.ranks)} == {"1–2"}
    assert found.votes == {"one": 3, "two": 3}


@pytest.mark.parametrize("count", [1, 2, 3, 4])
@pytest.mark.parametrize("models", ["ab", "abc"])
def test_any_few_votes_rank_models_or_say_why_not(count: int, models: str) -> None:
    """With ties among them, a model that never lost has no bound either: ties may grow with it."""
    matches = list(combinations(models, 2))
    for said in product((1, -1, 0), repeat=count):
        votes = [
            Vote(*matches[place % len(matches)], one, f"p{place}", f"c{place}")
            for place, one in enumerate(said)
        ]
        if not any(said):
            with pytest.raises(ReportError, match="votes cannot rank the models"):
                strengths(votes)
            continue
        found = strengths(votes)
        shares = [one.value or 0.0 for one in found.models.values()]
        assert all(0 < one < 1 for one in shares)
        assert shares == sorted(shares, reverse=True)


def test_who_never_lost_but_tied_is_held_by_the_prior() -> None:
    votes = [Vote("a", "b", one, f"p{place}", f"c{place}") for place, one in enumerate([1, 1, 0])]
    found = strengths(votes)
    assert any("weak prior, without interval: a, b" in note for note in found.notes)
