"""Our own fluency detector: what it finds, what it leaves alone, and how people agree."""

import csv
import json
import subprocess
import sys
from collections.abc import Sequence
from importlib import resources
from pathlib import Path

import numpy as np
import pytest

from audiocapbench.errors import MetricError
from audiocapbench.metrics.encoders import load
from audiocapbench.metrics.fluency.detector import (
    ERROR_WEIGHT,
    EXCESS_WEIGHT,
    breaks_off,
    excess_length,
    fluency,
    fluent_similarity,
    load_detector,
    longest,
    sentences_of,
)
from audiocapbench.metrics.fluency.fense import similarity

BROKEN = [
    "a dog barks and a",
    "a power tool is followed by a",
    "a train horn blows as a bell rings in the",
    "a cat meows and a cat meows",
    "a vehicle horn honking followed by a vehicle horn honking",
    "a man is is speaking",
]
WHOLE = [
    "A dog barks and a cat meows",
    "a power tool is followed by a man speaking",
    "Rain falls on a tin roof while thunder rolls in the distance.",
    "birds",
    "None",
    'A man says "and then the, and then the"',
    "A woman shouts “come over here and” as music plays",
    "The low quality recording features a ballad with sustained strings. It sounds sad.",
]


CUT = [
    "a dog barks and then the",
    "a man speaks followed by a",
    "rain falls while a",
    "a train passes with the",
]
HIDE = [
    *("in the background", "with background noise", "followed by more sounds", "is heard nearby"),
    *("loudly and continuously", "nearby", "on and off", "and so on", ", in the distance"),
    *("can be heard in the background", "during the recording", "again and again", "at the end"),
    *("later", "again later", "soon", "once", "twice", "meanwhile", "still", "afterwards"),
]


@pytest.mark.parametrize("hidden", HIDE)
@pytest.mark.parametrize("text", CUT)
def test_what_is_put_behind_a_cut_does_not_hide_it(text: str, hidden: str) -> None:
    made, whole = f"{text} {hidden}", f"{text.rsplit(maxsplit=1)[0]} crowd cheers {hidden}"
    assert breaks_off(text)
    assert breaks_off(made)
    assert load_detector().error_probabilities([made]).tolist() == [1.0]
    assert not breaks_off(whole.removeprefix(", "))


@pytest.mark.parametrize("joint", ["and", "then", "as", "with", "while", "followed by", "and a"])
@pytest.mark.parametrize("adverb", ["later", "too", "soon", "loudly", "again later"])
def test_an_adverb_alone_completes_no_clause(joint: str, adverb: str) -> None:
    assert breaks_off(f"a baker kneads dough {joint} {adverb}")
    assert not breaks_off(f"a baker kneads dough {joint.removesuffix(' a')} an oven ticks {adverb}")


@pytest.mark.parametrize("named", ["audio", "object", "activity", "deep area", "continues", "out"])
def test_what_could_be_said_of_anything_completes_no_clause(named: str) -> None:
    assert breaks_off(f"a baker kneads dough and a {named}")
    assert not breaks_off(f"a baker kneads dough and an oven {named}")


@pytest.mark.parametrize(
    "noise", ["noise", "sound in the background", "loud noise", "starting", "overhead"]
)
def test_a_clause_that_names_a_noise_alone_ends_nothing(noise: str) -> None:
    assert breaks_off(f"a dog barks and a {noise}")
    assert breaks_off(f"a dog barks followed by a {noise}")


@pytest.mark.parametrize(
    "text",
    [
        *(
            "men talk with each other",
            "dishes are stacked on top of one another",
            "birds chirp nearby",
        ),
        *(
            'a man says "and then the"',
            "a car drives by in the background",
            "a machine makes a noise",
        ),
        *(
            "a bee is a fly and a fly is buzzing",
            "thunder fades into the distance",
            "rain for a while",
        ),
        *(
            "after a while, a dog barks",
            "a loud, long burp",
            "a can is opened and a can is crushed",
        ),
        *("a dog barks with background noise", "wind and a lively and cheerful family", "", "None"),
        *("a choir hums as time goes on", "a saw starts and stops", "a gong with a long reverb"),
        *("a gate creaks quickly and loudly", "again and again", "steps near and far", "as well"),
    ],
)
def test_what_ends_as_people_end_it_breaks_not_off(text: str) -> None:
    assert not breaks_off(text)


def column(path: Path, name: str) -> list[str]:
    with path.open(encoding="utf-8", newline="") as file:
        return [row[name] for row in csv.DictReader(file)]


def false_alarms(captions: Sequence[str]) -> float:
    return float(np.mean(load_detector().error_probabilities(captions) > 0.5))


def mecat_captions(shared: Path) -> list[str]:
    captions = []
    for file in sorted((shared / "mecat/caption_test").glob("*.jsonl")):
        for line in file.read_text(encoding="utf-8").splitlines():
            for sample in json.loads(line).values():
                captions += [
                    text for texts in sample.values() if isinstance(texts, list) for text in texts
                ]
    return captions


@pytest.mark.parametrize("caption", BROKEN)
def test_a_broken_caption_is_found(caption: str) -> None:
    assert fluency([caption]).score < 0.5


@pytest.mark.parametrize("caption", WHOLE)
def test_a_whole_caption_is_left_alone(caption: str) -> None:
    assert fluency([caption]).score > 0.5


def test_case_and_a_final_full_stop_do_not_matter() -> None:
    plain, dressed = fluency(
        ["a dog barks and a cat meows", "A dog barks, and a cat meows."]
    ).samples
    assert plain == dressed


def test_one_broken_sentence_of_two_costs_half() -> None:
    whole, broken = fluency(["a dog barks", "a cat meows and a"]).samples
    assert fluency(["A dog barks. A cat meows and a"]).score == pytest.approx((whole + broken) / 2)


@pytest.mark.parametrize("caption", ["", "  ", "\0", "...", "“" * 1000])
def test_a_caption_without_a_word_scores_zero(caption: str) -> None:
    assert fluency([caption]).score == 0


def test_hostile_text_has_a_finite_score() -> None:
    hostile = [
        "x" * 100_000,
        "a dog " * 20_000,
        '"' * 99_999,
        "狗在叫",
        "צליל",
        "😀 barks",
        "\ud800 a",
    ]
    samples = fluency(hostile).samples
    assert ((samples >= 0) & (samples <= 1)).all()


def test_a_score_depends_on_its_own_caption_alone(shared: Path) -> None:
    captions = column(shared / "audiocaps/test.csv", "caption")[:400]
    together = fluency(captions).samples
    np.testing.assert_array_equal(fluency(captions[::-1]).samples[::-1], together)
    alone = np.concatenate([fluency([caption]).samples for caption in captions[:60]])
    np.testing.assert_allclose(alone, together[:60], atol=1e-12)


def test_another_process_with_another_hash_seed_agrees() -> None:
    code = (
        "from audiocapbench.metrics.fluency.detector import fluency\n"
        "print(fluency(['a dog barks and a zyzzyva']).samples[0].hex())"
    )
    done = [
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(filter(None, sys.path))},
            capture_output=True,
            text=True,
            check=True,
            timeout=120,
        ).stdout
        for seed in ("1", "2")
    ]
    assert done[0] == done[1]


def test_what_is_not_text_is_named_by_its_place() -> None:
    with pytest.raises(MetricError, match="Text 1 is int"):
        fluency(["a", 7])  # type: ignore[list-item]
    with pytest.raises(MetricError, match="a list of texts"):
        fluency("a dog barks")


def test_no_predictions_score_zero() -> None:
    assert fluency([]).score == 0
    assert fluent_similarity([], []).score == 0


def test_the_weights_are_small_and_their_recipe_names_them() -> None:
    folder = resources.files("audiocapbench.metrics.fluency") / "weights"
    assert len((folder / "weights.npz").read_bytes()) < 500_000
    recipe = json.loads((folder / "recipe.json").read_text(encoding="utf-8"))
    assert recipe["detector"] == load_detector().name
    assert recipe["figures"]["human pairs"]["error_weight"] == ERROR_WEIGHT


def test_fluent_similarity_is_similarity_less_the_weighted_error() -> None:
    predictions = [*BROKEN, *WHOLE]
    long = "a dog barks and a horn honks as rain falls on a roof. Then it is quiet."
    references = [["a dog barks", long]] * len(predictions)
    plain = similarity(predictions, references).samples
    errors = load_detector().error_probabilities(predictions)
    result = fluent_similarity(predictions, references)
    np.testing.assert_allclose(result.samples, plain - ERROR_WEIGHT * errors, atol=1e-12)


def test_what_is_longer_than_any_reference_costs_more_with_each_doubling() -> None:
    references = ["a dog barks", "a dog barks at a cat"]
    most = longest(references)
    whole = "a dog barks at a cat while a man and a woman talk"
    assert excess_length("a dog barks at a small cat", most) == 0
    assert excess_length(whole, most) == pytest.approx(np.log2(13 / 7.8))
    assert excess_length("A dog barks. A cat meows.", most) == pytest.approx(1)
    assert excess_length(whole, longest([])) == excess_length("", most) == 0
    errors = load_detector().error_probabilities([whole])
    plain = similarity([whole], [references]).samples - ERROR_WEIGHT * errors
    result = fluent_similarity([whole], [references])
    lost = EXCESS_WEIGHT * excess_length(whole, most)
    np.testing.assert_allclose(result.samples, plain - lost, atol=1e-12)


@pytest.mark.parametrize(
    "caption",
    [
        "A dog barks. A dog barks.",
        "A dog barks loudly. A dog is barking.",
        "A man speaks. A dog barks. A man speaks",
    ],
)
def test_a_sentence_that_was_there_before_is_broken(caption: str) -> None:
    first, *_ = caption.split(". ")
    assert fluency([caption]).score < fluency([first]).score - 0.3


@pytest.mark.parametrize(
    "caption",
    [
        "dog barks growls loudly several dog",
        "man dog speaks barks wind",
        "dog, barks, growls, loudly, several, times",
        "wind, birds, water",
        "rain roof thunder distance rolls falls",
        "a a dog dog barks barks",
    ],
)
def test_a_list_of_key_words_is_no_sentence(caption: str) -> None:
    assert fluency([caption]).score < 0.5


@pytest.mark.parametrize(
    "joined",
    [
        *(
            "withbackgroundnoise",
            "inthebackground",
            "windandbirds",
            "mantalkingdogbarking",
            "thedog",
        ),
        *("amanspeaksandadogbarks", "followedbyaman", "aman" * 11, "birdsChirpingInTheTrees"),
    ],
)
def test_words_run_together_are_broken_language(joined: str) -> None:
    assert fluency([f"a dog barks {joined}", joined]).samples.tolist() == [0, 0]
    assert fluency([f"A dog barks loudly. A man talks {joined}."]).score < 0.6


@pytest.mark.parametrize(
    "word",
    [
        *("lawnmower", "voiceover", "bassline", "without", "whether", "herself", "nevertheless"),
        *(
            "thunderstorms",
            "Argentina",
            "Instagram",
            "zyzzyvas",
            "hihat",
            "synthwave",
            "grandfather",
        ),
    ],
)
def test_a_word_that_is_one_is_left_alone(word: str) -> None:
    known, own = fluency(["a dog barks near the house", f"a dog barks near the {word}"]).samples
    assert own > known - 0.5


def test_an_empty_prediction_scores_zero_and_is_counted() -> None:
    result = fluent_similarity(["", "a dog barks"], [["a dog"], ["a dog barks"]])
    assert result.samples[0] == 0
    assert len(result.samples) == 2


def test_the_signature_tells_encoder_detector_and_weight() -> None:
    signature = str(fluent_similarity(["a"], [["a"]]).signature)
    expected = f"encoder:{load('caption2vec').name}|refs:mean|detector:{load_detector().name}"
    assert f"{expected}|weight:{ERROR_WEIGHT:g}|excess:{EXCESS_WEIGHT:g}|protocol:9" in signature
    assert f"detector:{load_detector().name}|" in str(fluency(["a"]).signature)


def test_references_are_checked_as_for_similarity() -> None:
    with pytest.raises(MetricError, match="sample 0 has no reference"):
        fluent_similarity(["a"], [[]])


def test_sentences_are_split_and_speech_is_one_word() -> None:
    caption = 'A man says "stop, now." He pays 3.50, then leaves; it\'s late!'
    assert sentences_of(caption) == (
        ("a", "man", "says", '"', "he", "pays", "3.50", "then", "leaves", ",", "it's", "late"),
    )
    assert sentences_of("One. Two?  Three") == (("one",), ("two",), ("three",))


def test_people_who_labelled_captions_agree(shared: Path) -> None:
    path = shared / "fense/fluency_annotations_723.csv"
    labels = np.array(column(path, "fluency_issue"), dtype=int)
    errors = load_detector().error_probabilities(column(path, "caption"))
    above = errors[labels == 1][:, np.newaxis] - errors[labels == 0]
    assert np.mean(above > 0) + np.mean(above == 0) / 2 > 0.96


@pytest.mark.parametrize("step", [4, pytest.param(1, marks=pytest.mark.slow)])
def test_captions_that_people_wrote_are_seldom_flagged(shared: Path, step: int) -> None:
    clotho = column(shared / "clotho/evaluation_captions.csv", "raw_text")
    assert false_alarms(column(shared / "audiocaps/test.csv", "caption")[::step]) < 0.025
    assert false_alarms(clotho[::step]) < 0.07
    assert false_alarms(column(shared / "musiccaps/musiccaps-public.csv", "caption")[::step]) < 0.02
    assert false_alarms(mecat_captions(shared)[::step]) < 0.01
