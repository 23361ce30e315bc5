"""What is made of captions: grammatical, really wrong, the same every time."""

import random
from collections.abc import Iterable, Sequence

import pytest

from audiocapbench.meta.corrupt.balance import choose, differences, placed
from audiocapbench.meta.corrupt.captions import (
    CaptionSet,
    CorruptedPair,
    caption_set,
    excluding,
    nouns,
    plain_form,
    tokens_of,
    unlike,
    written,
)
from audiocapbench.meta.corrupt.events import (
    FINITE,
    GERUND,
    OTHER,
    change_times,
    clauses_of,
    form_of,
)
from audiocapbench.meta.corrupt.exchanges import (
    change_phrases,
    exchange_nouns,
)
from audiocapbench.meta.corrupt.make import CorruptionSettings, make_pairs
from audiocapbench.meta.corrupt.names import exchange_deeds, exchange_names, exchange_topics


def captions(*clips: Sequence[str]) -> CaptionSet:
    return caption_set([(f"clip {n}", f"{n}.wav", texts) for n, texts in enumerate(clips)])


def texts(found: Iterable[CorruptedPair]) -> dict[str, set[str]]:
    """Every true caption, and all that could stand against it."""
    made: dict[str, set[str]] = {}
    for pair in found:
        made.setdefault(pair.true, set()).add(pair.false)
    return made


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
        "A dog barks at 10° outside",
        "bark " * 25_000,
        "Dog",
        "   ",
    ],
)
def test_what_the_rules_cannot_read_is_left_alone(text: str) -> None:
    assert tokens_of(text) is None
    made = make_pairs(captions([text, "A man speaks"], ["A woman speaks"]), CorruptionSettings())
    assert all(text not in (trial.true, trial.false) for one in made for trial in one.corruptions)


def test_a_noun_gives_way_to_nouns_that_captions_have_in_its_surroundings() -> None:
    made = texts(exchange_nouns(captions(["A man speaks as rain falls"])))
    assert "A child speaks as rain falls." in made["A man speaks as rain falls."]
    assert not any("baby" in text for text in made["A man speaks as rain falls."])
    made = texts(exchange_nouns(captions(["Water pours from a bottle"])))
    assert not made.get("Water pours from a bottle.", set()) & {
        f"Water pours from a {thing}." for thing in ("ball", "book", "chair", "door", "key")
    }


def test_surroundings_are_learnt_from_other_clips_of_the_set() -> None:
    blorp = [["A goat yodels at dawn"], ["A horse yodels at dawn"]]
    assert texts(exchange_nouns(captions(*blorp))) == {
        "A goat yodels at dawn.": {"A horse yodels at dawn."},
        "A horse yodels at dawn.": {"A goat yodels at dawn."},
    }
    assert not texts(exchange_nouns(captions([*blorp[0], *blorp[1]])))


def test_a_source_and_what_it_does_give_way_to_those_of_another_clip() -> None:
    clips = captions(
        ["A dog barks in the distance as rain falls"],
        ["A bell rings"],
        ["A clock ticks while people at a table are talking"],
        ["Peeling potatoes, a man coughs"],
        ["Vehicle approaches"],
        ["A vehicle approaches"],
        ["Two cats growl"],
    )
    made = texts(exchange_deeds(clips))
    assert "A bell rings as rain falls." in made["A dog barks in the distance as rain falls."]
    # Neither without an article, nor another number, nor who hangs on other words.
    said = " ".join(text.lower() for own in made.values() for text in own)
    assert "as vehicle approaches" not in said
    assert "Peeling potatoes, a man coughs." not in made
    assert not any("table" in text and "at a table" not in text for text in said.split("."))


def test_a_deed_that_a_reference_may_mean_is_not_put_in() -> None:
    made = texts(
        exchange_deeds(
            captions(
                ["A dog barks as rain falls", "ringing, barking"], ["A bell rings as rain falls"]
            )
        )
    )
    assert "A bell rings as rain falls." not in made.get("A dog barks as rain falls.", ())
    assert "A dog barks as rain falls." in made["A bell rings as rain falls."]


def test_a_quality_is_changed_where_another_reference_confirms_it() -> None:
    clips = [["A bell rings loudly", "A bell"], ["A bell rings softly"]]
    assert "A bell rings loudly." not in texts(change_phrases(captions(*clips), "attribute"))
    clips[0].append("A loud bell")
    assert "A bell rings loudly." in texts(change_phrases(captions(*clips), "attribute"))


@pytest.mark.parametrize(
    ("text", "false"),
    [
        ("A man speaks as rain falls", {"A woman speaks as rain falls."}),
        ("A man saws wood", set()),  # who saws cannot be heard
        ("A girl sings in her shoes", set()),
        ("A man talks to a man", set()),
        ("Technical narration in French", {"Technical narration in German."}),
        ("A dry leaf crackles", set()),
    ],
)
def test_who_speaks_and_in_what_language_are_qualities(text: str, false: set[str]) -> None:
    made = texts(change_phrases(captions([text]), "attribute")).get(f"{text}.", set())
    assert false <= made
    others = {"woman", "boy", "wet"}
    assert false or not any(others & set(one.lower().split()) for one in made)


@pytest.mark.parametrize("other", ["People talk", "A woman talks", "Female speech", "A girl sings"])
def test_a_gender_that_a_reference_may_mean_is_not_put_in(other: str) -> None:
    made = texts(change_phrases(captions(["A man speaks", other]), "attribute")).get(
        "A man speaks.", ()
    )
    assert not any("woman" in one.lower().split() for one in made)


def test_the_name_of_a_sound_gives_way_to_another_that_no_reference_may_mean() -> None:
    clips = captions(
        ["Persistent engine sounds with static"],
        ["Faint barking sounds in a room"],
        ["Loud keyboard sounds", "A mechanical rumble and a canine"],
        ["Insects and bugs buzz"],
        ["Speech with occasional clicking"],
        ["Speech with occasional barking"],
    )
    made = texts(exchange_names(clips))
    assert made["Persistent engine sounds with static."] == {
        "Persistent barking sounds with static."
    }
    assert not any("keyboard" in true for true in made)
    assert made["Speech with occasional clicking."] == {"Speech with occasional barking."}
    assert "Insects and bugs buzz." not in texts(exchange_deeds(clips))


def test_what_is_spoken_of_gives_way_to_what_no_reference_may_mean() -> None:
    clips = captions(
        ["A man talks about tax payments", "A calm voice on money"],
        ["A woman discussing bank loans in Spanish"],
        ["An explanation of soccer matches delivered by a girl"],
        ["A speaker describing car", "A talk about makeup for weddings"],
    )
    assert texts(exchange_topics(clips)) == {
        "A man talks about tax payments.": {"A man talks about soccer matches."},
        "A woman discussing bank loans in Spanish.": {
            "A woman discussing soccer matches in Spanish."
        },
        "An explanation of soccer matches delivered by a girl.": {
            "An explanation of tax payments delivered by a girl.",
            "An explanation of bank loans delivered by a girl.",
        },
    }


@pytest.mark.parametrize(
    ("clip", "false"),
    [
        (["A click during speech"], {"A click during music."}),
        (["A click during speech", "Clicks over a song"], set()),
        (["A click without hum during speech"], set()),
        (["A room with a soft electrical hum", "A dry hall"], {"birdsong"}),
        (["A soft electrical hum", "Birds chirp"], {"wind noise"}),
        (["Her deep sadness, grief and fear"], {"joy"}),
        (["Her deep sadness and joy"], set()),
        (["A guitar-driven track"], {"A flute-driven track."}),
        (["A guitar-driven track", "Wind instruments and strings"], {"A piano-driven track."}),
        (["A technical monologue"], {"A technical dialogue.", "A technical conversation."}),
        (["A technical dialogue", "A man speaks"], set()),
    ],
)
def test_nouns_of_a_table_give_way_to_what_no_reference_may_mean(
    clip: list[str], false: set[str]
) -> None:
    made = texts(change_phrases(captions(clip), "noun")).get(f"{clip[0]}.", set())
    assert bool(made) == bool(false)
    assert all(any(one in text for text in made) for one in false)
    assert not any("flute" in text for text in made if len(clip) > 1)


def test_a_word_that_goes_with_one_sort_of_source_keeps_it() -> None:
    clips = captions(
        ["Combustion engine sounds"],
        ["A french horn melody"],
        ["A piano melody"],
        ["Barking sounds in a room"],
        ["Loud machine noises resembling engines"],
        ["Loud barking noises"],
    )
    kept = {"Combustion engine sounds.", "A french horn melody."}
    kept.add("Loud machine noises resembling engines.")
    assert kept.isdisjoint(texts(exchange_names(clips)))


def test_what_is_done_gives_way_with_the_place_where_it_is_done() -> None:
    clips = captions(
        ["Rain falls and oil sizzles loudly in the pan"],
        ["Wind blows and traffic moves"],
        ["A dog barks, so birds chirp"],
    )
    made = texts(exchange_deeds(clips))
    assert not any(one.endswith("pan.") for own in made.values() for one in own if "oil" not in one)
    assert "A dog barks, so birds chirp." not in made


@pytest.mark.parametrize(
    "clip",
    [
        ["Birds singing near a road", "Birds sing"],
        ["Voices with electronic interference", "Electronic interference and voices"],
    ],
)
def test_birds_do_not_speak_and_interference_is_not_acoustic(clip: list[str]) -> None:
    others = ["People speaking near birds speaking", "A hum with acoustic interference"]
    made = texts(change_phrases(captions(clip, *([one] for one in others)), "attribute"))
    assert f"{clip[0]}." not in made


def test_articles_agree_with_the_new_noun() -> None:
    made = texts(exchange_nouns(captions(["A helicopter flies overhead"])))
    assert "An airplane flies overhead." in made["A helicopter flies overhead."]


def test_a_noun_that_another_reference_has_is_never_put_in() -> None:
    made = texts(exchange_nouns(captions(["A man speaks", "A lady talks to a man"])))
    assert not any("woman" in text for text in made.get("A man speaks.", ()))


@pytest.mark.parametrize(
    ("one", "other"), [("car", "truck"), ("dog", "puppy"), ("bird", "pigeon"), ("woman", "girl")]
)
def test_nouns_that_sound_alike_are_not_exchanged(one: str, other: str) -> None:
    assert nouns()[other] not in unlike(nouns()[one])
    assert nouns()[one] not in unlike(nouns()[other])
    assert other in excluding(nouns()[one].family)


def test_before_and_after_are_exchanged() -> None:
    own = "A bell rings before an engine starts"
    assert texts(change_times(captions([own, "A bell, then an engine"]))) == {
        f"{own}.": {f"A bell rings {one} an engine starts." for one in ("after", "while", "as")}
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
    own = "A man speaks, then a dog barks."
    assert own in texts(change_times(captions([own])))
    assert own not in texts(change_times(captions([own, other])))


@pytest.mark.parametrize(
    ("text", "other", "false"),
    [
        (
            "A dog barks as a bell rings",
            "A bell rings while a dog barks",
            {f"A dog barks {one} a bell rings." for one in ("before", "after", "and then")},
        ),
        ("A dog barks as a bell rings", "A dog barks, then a bell rings", set()),
        (
            "A dog barks as a bell rings",
            "A dog and a bell",
            set(),
        ),
        (
            "A dog barks as a bell is ringing",
            "A bell rings while a dog barks",
            {"A dog barks and then a bell is ringing."},
        ),
        (
            "A dog barks followed by a bell ringing",
            "A dog barks before a bell rings",
            set(),
        ),
        ("Barks are followed by a bell ringing", "A dog barks before a bell rings", set()),
    ],
)
def test_what_is_heard_at_once_is_told_as_in_turn_where_no_reference_tells_so(
    text: str, other: str, false: set[str]
) -> None:
    assert texts(change_times(captions([text, other]))).get(f"{text}.", set()) == false


def test_what_two_say_of_one_thing_is_not_denied_by_what_is_said_of_another() -> None:
    clips = [["Intermittent clicks amid constant hiss", "Occasional clicks with steady hiss"]]
    made = texts(change_phrases(captions(*clips), "attribute"))
    assert "Persistent clicks amid constant hiss." in made[f"{clips[0][0]}."]
    clips[0].append("Steady clicks")
    made = texts(change_phrases(captions(*clips), "attribute"))
    assert "Persistent clicks amid constant hiss." not in made.get(f"{clips[0][0]}.", ())


def test_a_quality_becomes_its_opposite_unless_a_reference_says_so() -> None:
    clips = [["A bell rings loudly"], ["A bell rings softly"]]
    made = texts(change_phrases(captions(*clips), "attribute"))
    assert "A bell rings softly." in made["A bell rings loudly."]
    assert "A bell rings loudly." in made["A bell rings softly."]
    clips[0].append("A faint bell rings")
    assert "A bell rings loudly." not in texts(change_phrases(captions(*clips), "attribute"))


@pytest.mark.parametrize(
    ("own", "other", "put_in"),
    [
        ("Two men shout", "Two men", {"Three men shout.", "Many men shout."}),
        ("Two men shout", "Men shout", set()),
        ("Two men shout", "Two or several men", set()),
        ("A bell rings once", "A single ring", {"A bell rings twice.", "A bell rings repeatedly."}),
        ("A bell rings once", "One ring, then many", set()),
    ],
)
def test_a_number_is_changed_only_to_what_no_reference_may_mean(
    own: str, other: str, put_in: set[str]
) -> None:
    found = texts(change_phrases(captions([own, other]), "attribute")).get(f"{own}.", set())
    assert put_in <= found
    assert put_in or not any("hree" in one or "any" in one or "times" in one for one in found)


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
    assert form_of(tuple(text.split())) == form


def test_nouns_that_are_joined_stay_one_subject() -> None:
    clauses = clauses_of(("frogs", "and", "insects", "calling", "as", "wind", "blows"))
    assert [" ".join(clause.tokens) for clause in clauses] == [
        "frogs and insects calling",
        "wind blows",
    ]


def trial(number: int, true: str, false: str) -> CorruptedPair:
    clip = caption_set([(f"clip {number}", "", [true])]).clips[0]
    return CorruptedPair("noun", clip, 0, true, false)


def test_words_that_are_put_in_are_no_more_usual_for_the_clip_that_lent_them() -> None:
    clips = captions(["A goat yodels at dawn"], ["A horse yodels at dawn"], ["A cow at dawn"])
    made = list(exchange_nouns(clips))
    assert len(made) >= 2
    by_the_set = differences(made, clips)[:, 6:]
    assert abs(by_the_set).max() < 1e-9


def test_of_a_captions_candidates_those_are_taken_that_level_the_set() -> None:
    made = [
        trial(number, f"Zibzab z{number}ob.", false)
        for number in range(60)
        for false in (f"Zibzab z{number}.", f"Zibzab z{number}obzub.")
    ]
    clips = captions(["A dog barks loudly"])
    kept = choose(made, clips, None, random.Random(1))
    assert len(kept) == len({one.caption for one in kept}) >= 40
    assert abs(sum(len(one.true) > len(one.false) for one in kept) / len(kept) - 0.5) < 0.05


def test_what_tips_the_set_is_left_out() -> None:
    longer = [trial(n, f"Zib z{n}ob.", f"Zib z{n}.") for n in range(60)]
    shorter = [trial(n, f"Zib z{n}.", f"Zib z{n}ob.") for n in range(60, 100)]
    kept = choose([*longer, *shorter], captions(["A dog barks"]), None, random.Random(1))
    lean = sum(len(one.true) > len(one.false) for one in kept) / len(kept)
    assert len(kept) >= 70
    assert abs(lean - 0.5) < 0.05


def test_the_true_caption_stands_in_each_place_half_of_the_time() -> None:
    made = [trial(n, "A dog barks.", "x" * size) for size in (5, 12, 20) for n in range(30)]
    rows = placed(made, random.Random(1))
    for length in (5, 12, 20):
        answers: list[int] = [answer for one, answer in rows if len(one.false) == length]
        assert sum(answers) == 15


def test_a_caption_that_breaks_off_after_and_is_read() -> None:
    made = texts(
        exchange_deeds(captions(["Rain falls as a dog barks and"], ["A bell rings as rain falls"]))
    )
    assert "A dog barks as rain falls." in made["A bell rings as rain falls."]


def test_a_genre_that_may_be_the_same_is_not_put_in() -> None:
    genres = ("hip-hop", "electronic", "rock")
    made = texts(
        change_phrases(captions(*([f"This {one} beat plays"] for one in genres)), "attribute")
    )
    assert made["This hip-hop beat plays."] == {"This rock beat plays."}


def test_the_share_that_is_asked_for_comes_before_a_level_set() -> None:
    longer = [trial(n, f"Zib z{n}ob.", f"Zib z{n}.") for n in range(100)]
    shorter = [trial(n, f"Zib z{n}.", f"Zib z{n}ob.") for n in range(100, 110)]
    made, clips = [*longer, *shorter], captions(*([f"A dog barks {n}"] for n in range(300)))
    assert 75 <= len(choose(made, clips, None, random.Random(1), 0.25)) <= 80
    assert len(choose(made, clips, None, random.Random(1))) <= 30


def test_the_seed_decides_and_the_limit_holds() -> None:
    verbs = ("sneezes", "cries", "laughs", "coughs")
    people = [[f"A man {verb} as rain falls"] for verb in verbs]
    people += [[f"A woman {verb} in a hall"] for verb in verbs]
    clips = captions(*people)
    wanted = CorruptionSettings(["noun"], per_kind=4, seed=7)
    first, again = (make_pairs(clips, wanted)[0] for _ in range(2))
    assert first == again
    assert 2 <= len(first.pairs) <= 4
    assert first.captions == 8
    assert first.left_out == 8 - len(first.pairs)
    assert make_pairs(clips, wanted._replace(seed=8))[0].pairs != first.pairs
