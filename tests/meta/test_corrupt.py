"""What is made of captions: grammatical, really wrong, the same every time."""

import random
from collections.abc import Sequence

import pytest

from audiocapbench.meta.corrupt.attribute_change import change_attributes
from audiocapbench.meta.corrupt.balance import choose, placed
from audiocapbench.meta.corrupt.captions import (
    CaptionSet,
    CorruptedPair,
    Corruption,
    Unit,
    caption_set,
)
from audiocapbench.meta.corrupt.clauses import (
    FINITE,
    GERUND,
    OTHER,
    as_finite,
    as_gerund,
    pieces_of,
    read_clause,
)
from audiocapbench.meta.corrupt.count_change import change_counts
from audiocapbench.meta.corrupt.event_change import add_events, drop_events, swap_orders
from audiocapbench.meta.corrupt.make import make_pairs
from audiocapbench.meta.corrupt.noun_exchange import exchange_nouns
from audiocapbench.meta.corrupt.text import plain_form, tokens_of, written
from audiocapbench.meta.corrupt.words import excluding, nouns, unlike


def captions(*clips: Sequence[str]) -> CaptionSet:
    return caption_set([(f"clip {n}", f"{n}.wav", texts) for n, texts in enumerate(clips)])


def texts(found: Sequence[Unit]) -> dict[str, str]:
    return {trial.true: trial.false for unit in found for trial in unit}


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("a dog  barks ", "A dog barks."),
        ("\nA dog barks .", "A dog barks."),
        ("A dog barks , then rests...", "A dog barks, then rests."),
        ("", ""),
    ],
)
def test_every_caption_gets_the_same_plain_form(text: str, form: str) -> None:
    assert plain_form(text) == form
    assert plain_form(form) == form


def test_articles_follow_the_next_word() -> None:
    assert written(("a", "engine", "and", "an", "horn")) == "An engine and a horn."
    assert written(("an", "unicycle", "for", "a", "hour")) == "A unicycle for an hour."


@pytest.mark.parametrize(
    "text",
    [
        "A dog says \0 woof",
        "A 🐕 barks",
        "כלב נובח בחוץ",
        "A dog barks 3 times at 10:30",
        "bark " * 25_000,
        "Dog",
        "   ",
    ],
)
def test_what_the_rules_cannot_read_is_left_alone(text: str) -> None:
    assert tokens_of(text) is None
    made = make_pairs(captions([text, "A man speaks"], ["A woman speaks"]))
    assert all(text not in (trial.true, trial.false) for one in made for trial in one.corruptions)


def test_two_captions_swap_a_noun_in_like_surroundings() -> None:
    found = exchange_nouns(
        captions(["A man speaks as rain falls"], ["An infant laughs, then a woman speaks"]),
        random.Random(1),
    )
    assert texts(found) == {
        "A man speaks as rain falls.": "A woman speaks as rain falls.",
        "An infant laughs, then a woman speaks.": "An infant laughs, then a man speaks.",
    }
    assert [len(unit) for unit in found] == [2]


def test_articles_agree_with_the_new_noun() -> None:
    found = exchange_nouns(
        captions(["An airplane engine hums"], ["A boat engine hums"]), random.Random(1)
    )
    assert texts(found)["An airplane engine hums."] == "A boat engine hums."
    assert texts(found)["A boat engine hums."] == "An airplane engine hums."


def test_a_noun_that_another_reference_has_is_never_put_in() -> None:
    clips = captions(["A man speaks", "A lady talks to a man"], ["A woman speaks"])
    assert not exchange_nouns(clips, random.Random(1))


@pytest.mark.parametrize(
    ("one", "other"), [("car", "truck"), ("dog", "puppy"), ("bird", "pigeon"), ("woman", "girl")]
)
def test_nouns_that_sound_alike_are_not_exchanged(one: str, other: str) -> None:
    assert not unlike(nouns()[one], nouns()[other])
    assert not unlike(nouns()[other], nouns()[one])
    assert other in excluding(nouns()[one].family)


def test_events_change_places_with_their_forms() -> None:
    found = swap_orders(
        captions(
            ["A man speaks followed by dogs barking"],
            ["A bell rings, then an engine starts"],
            ["A woman coughs and then laughs"],
        )
    )
    assert texts(found) == {
        "A man speaks followed by dogs barking.": "Dogs bark followed by a man speaking.",
        "A bell rings, then an engine starts.": "An engine starts, then a bell rings.",
        "A woman coughs and then laughs.": "A woman laughs and then coughs.",
    }


@pytest.mark.parametrize(
    "other",
    [
        "A dog barks and then a man speaks",
        "A man speaks while a dog barks",
        "A man speaks, a dog barks and the man speaks again",
    ],
)
def test_an_order_that_a_reference_doubts_is_not_swapped(other: str) -> None:
    assert swap_orders(captions(["A man speaks, then a dog barks"]))
    assert not swap_orders(captions(["A man speaks, then a dog barks", other]))


def test_a_quality_becomes_its_opposite_unless_a_reference_says_so() -> None:
    clips = [["A bell rings loudly"], ["A horn blows softly"]]
    found = change_attributes(captions(*clips), random.Random(1))
    assert texts(found)["A bell rings loudly."] == "A bell rings softly."
    assert texts(found)["A horn blows softly."] == "A horn blows loudly."
    clips[0].append("A faint bell rings")
    assert not change_attributes(captions(*clips), random.Random(1))


def test_a_relation_between_events_changes() -> None:
    clips = captions(["A dog barks while a man speaks"], ["A bell rings before a bird chirps"])
    assert texts(change_attributes(clips, random.Random(1))) == {
        "A dog barks while a man speaks.": "A dog barks before a man speaks.",
        "A bell rings before a bird chirps.": "A bell rings while a bird chirps.",
    }


def test_people_who_do_different_things_change_places() -> None:
    clips = captions(["A man laughs while a woman sings", "Laughing and singing"])
    assert texts(change_attributes(clips, random.Random(1))) == {
        "A man laughs while a woman sings.": "A woman laughs while a man sings."
    }


def test_noun_and_verb_agree_with_a_new_number() -> None:
    found = change_counts(
        captions(["A dog barks outside"], ["Several dogs are barking", "Dogs bark"]),
        random.Random(1),
    )
    assert texts(found) == {
        "A dog barks outside.": "Several dogs bark outside.",
        "Several dogs are barking.": "A dog is barking.",
    }


def test_two_becomes_many_where_no_reference_counts_otherwise() -> None:
    clips = [["Two men talk"], ["Many people shout", "People shout"]]
    found = change_counts(captions(*clips), random.Random(1))
    assert texts(found) == {
        "Two men talk.": "Many men talk.",
        "Many people shout.": "Two people shout.",
    }
    clips[0].append("Several men talk")
    assert not change_counts(captions(*clips), random.Random(1))


def test_an_added_event_is_right_in_one_clip_and_wrong_in_the_other() -> None:
    found = add_events(
        captions(
            ["A car passes", "A car passes and a dog barks", "Cars and a barking dog"],
            ["Rain falls", "Rain falls as a clock ticks", "A clock ticks in the rain"],
        ),
        random.Random(1),
    )
    (unit,) = found
    assert {(trial.true, trial.false) for trial in unit} == {
        ("A car passes, and a dog barks.", "A car passes, and a clock ticks."),
        ("Rain falls, and a clock ticks.", "Rain falls, and a dog barks."),
    }
    assert all(trial.sources == (0, 1) for trial in unit)
    assert all(len(trial.references) == 1 for trial in unit)


def test_events_are_also_lent_between_clips_of_one_reference() -> None:
    clips = captions(["A car passes as a dog barks"], ["Rain falls while a clock ticks"])
    assert set(texts(add_events(clips, random.Random(1))).values()) == {
        "A car passes, and a clock ticks.",
        "Rain falls, and a dog barks.",
    }


def test_the_false_caption_loses_what_most_references_name() -> None:
    found = drop_events(
        captions(
            ["A dog barks while a clock ticks", "A dog barks", "Barking", "A dog barks at night"]
        )
    )
    assert texts(found) == {"A dog barks.": "A clock ticks."}
    assert not drop_events(captions(["A dog barks while a clock ticks"]))


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("a large dog barks", FINITE),
        ("dogs bark", FINITE),
        ("a dog barking loudly", GERUND),
        ("starts running", OTHER),
        ("a loud bang", OTHER),
        ("the man and the dog", OTHER),
    ],
)
def test_clauses_are_told_by_their_verb(text: str, form: str) -> None:
    assert read_clause(tuple(text.split())).form == form


def test_verbs_change_their_form_and_back() -> None:
    clause = read_clause(("two", "men", "are", "speaking"))
    gerund = as_gerund(clause)
    assert gerund is not None
    assert " ".join(gerund.tokens) == "two men speaking"
    finite = as_finite(gerund)
    assert finite is not None
    assert " ".join(finite.tokens) == "two men speak"


def test_nouns_that_are_joined_stay_one_subject() -> None:
    pieces = pieces_of(("frogs", "and", "insects", "calling", "as", "wind", "blows"))
    assert [" ".join(piece.clause.tokens) for piece in pieces] == [
        "frogs and insects calling",
        "wind blows",
    ]


def trial(true: str, false: str) -> CorruptedPair:
    return CorruptedPair(Corruption.DROPPED, captions([true]).clips[0], (0,), true, false, "")


def test_what_tips_the_set_is_left_out() -> None:
    longer = [(trial("A dog barks and growls.", f"A cat number {n}."),) for n in range(60)]
    shorter = [(trial("A dog barks.", f"A cat that meows {n}."),) for n in range(40)]
    units = [*longer, *shorter]
    kept = choose(units, None, captions(["A dog"]).frequencies, random.Random(1))
    lean = sum(len(one.true) > len(one.false) for (one,) in kept) / len(kept)
    assert len(kept) >= len(units) / 2
    assert abs(lean - 0.5) < 0.05


def test_the_true_caption_stands_in_each_place_half_of_the_time() -> None:
    units = [(trial("A dog barks.", "x" * length),) for length in (5, 12, 20) for _ in range(30)]
    rows = placed(units, random.Random(1))
    for length in (5, 12, 20):
        answers: list[int] = [answer for one, answer in rows if len(one.false) == length]
        assert sum(answers) == 15


def test_the_seed_decides_and_the_limit_holds() -> None:
    people = [[f"A man {verb} as rain falls"] for verb in ("speaks", "sings", "laughs", "coughs")]
    people += [[f"A woman {verb} in a hall"] for verb in ("speaks", "sings", "laughs", "coughs")]
    clips = captions(*people)
    first, again = (make_pairs(clips, [Corruption.NOUN], per_kind=4, seed=7)[0] for _ in range(2))
    assert first == again
    assert len(first.pairs) == 4
    assert first.not_applicable == 0
    assert first.left_out == 4
    assert make_pairs(clips, [Corruption.NOUN], per_kind=4, seed=8)[0].pairs != first.pairs
