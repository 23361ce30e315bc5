"""The free metric of preference, and the share of references that a caption covers."""

import csv
import json
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audiocapbench.errors import MetricError
from audiocapbench.meta.pairs import pair_set, read_pairs
from audiocapbench.metrics import compute
from audiocapbench.metrics.encoders import load
from audiocapbench.metrics.preference.blend import features, load_blend, preference
from audiocapbench.metrics.preference.contrast import FEWEST
from audiocapbench.metrics.preference.coverage import coverage, load_weights, static_vectors
from audiocapbench.metrics.preference.hearing import prepare
from audiocapbench.metrics.text import plain
from command import run_command

REFERENCES = ["A dog barks loudly while a man speaks", "A man talks as a dog barks"]


def test_coverage_is_the_weighted_mean_of_the_nearest_cosines() -> None:
    encoder = static_vectors()
    weights = load_weights(encoder)[1]
    prediction = "a dog is barking"
    table = encoder.table.astype(np.float64)
    table /= np.maximum(np.linalg.norm(table, axis=1, keepdims=True), 1e-9)

    def ids(text: str) -> list[int]:
        return encoder.cut([text.lower()])[0]

    wanted = [token for text in REFERENCES for token in ids(text)]
    nearest = [max(float(table[one] @ table[own]) for own in ids(prediction)) for one in wanted]
    expected = np.average(nearest, weights=weights[wanted])
    assert coverage([prediction], [REFERENCES]).score == pytest.approx(expected, abs=1e-6)


def test_a_caption_covers_itself_and_a_blank_one_nothing() -> None:
    result = coverage([REFERENCES[0], "", "  "], [[REFERENCES[0]]] * 3)
    assert result.samples == pytest.approx([1, 0, 0], abs=1e-6)


def test_a_full_stop_and_capitals_change_no_coverage() -> None:
    one, other = coverage(["A DOG BARKS.", "a dog barks"], [REFERENCES] * 2).samples
    assert one == other


@pytest.mark.parametrize("kind", ["caption2vec", "minilm"])
def test_weights_have_the_sign_that_makes_sense_and_add_up_to_1(kind: str) -> None:
    _, weights = load_blend(kind)
    assert min(weights.values()) >= 0
    assert sum(weights.values()) == pytest.approx(1, abs=1e-12)


@given(st.lists(st.text(max_size=40), min_size=1, max_size=3), st.text(max_size=60))
@settings(max_examples=50)
def test_any_text_scores_between_0_and_1(references: list[str], prediction: str) -> None:
    if not any(map(plain, references)):
        with pytest.raises(MetricError, match="blank"):
            preference([prediction], [references])
        return
    (score,) = preference([prediction], [references]).samples
    assert 0 <= score <= 1 + 1e-12


def test_a_caption_as_long_as_a_book_is_held_to_200_references_as_long() -> None:
    words = [f"{first}{last}" for first in "bdfgklmnprst" for last in ("arking", "ender", "ilot")]
    long = [" ".join(words[place % 36 :] + words) * 4 for place in range(200)]
    book = " ".join([*(f"{number}ing" for number in range(2000)), *long[:30]])
    scores = preference([book, long[0], "😀", "1 2 3"], [long, long, ["🐕"], ["1 2 3"]]).samples
    assert scores.min() >= 0
    assert scores.max() <= 1
    assert scores[3] > 0.9


def test_the_blend_is_the_weighted_mean_of_its_features() -> None:
    predictions = ["A dog barks and a", "A train passes", "A man talks while a dog barks"]
    found = features(predictions, [REFERENCES] * 3, load("caption2vec"))
    _, weights = load_blend("caption2vec")
    expected = sum(weights[name] * found[name] for name in weights)
    assert preference(predictions, [REFERENCES] * 3).samples == pytest.approx(expected)


def test_a_score_depends_on_its_own_sample_alone() -> None:
    predictions = ["A dog barks", "A train passes by loudly", "", "rain"]
    references = [REFERENCES, ["A train goes by"], REFERENCES, ["Rain falls on a roof"]]
    together = compute(["preference", "coverage"], predictions, references)
    for place in range(4):
        alone = compute(
            ["preference", "coverage"],
            predictions[place : place + 1],
            references[place : place + 1],
        )
        assert [one.samples[0] for one in alone] == [one.samples[place] for one in together]


SOUNDS = ("dog barks", "man speaks", "bell rings", "car passes", "baby cries", "bird sings")
SET = [(f"A {one} in the street", f"A {one} while rain falls") for one in SOUNDS]


def contrasted(captions: list[str], held_to: Sequence[Sequence[str]] = SET) -> Any:
    return compute(["preference[contrast=set]"], captions, held_to)[0]


def test_contrasted_a_fixed_sentence_says_nothing_of_clips_of_one_reference() -> None:
    sentence = ["A dog barks while a man speaks in the street."] * len(SET)
    single = [own[:1] for own in SET]
    found = features(sentence, single, load(), contrast=True)
    for name in ("said", "completeness"):
        assert found[name].mean() == pytest.approx(0, abs=0.02)
        assert found[name].std() > 0.01
    assert "|contrast:set|" in str(contrasted(sentence, single).signature)


def test_a_set_is_contrasted_and_the_signature_says_whether_it_was() -> None:
    few, many = SET, [(f"A {one} {where}",) for one in SOUNDS for where in ("near", "far away")]
    assert len(few) < FEWEST <= len(many)
    for held_to, how in ((few, "none"), (many, "set")):
        said = [f"A {one}" for one in SOUNDS for _ in range(len(held_to) // len(SOUNDS))]
        asked, named = compute(["preference", f"preference[contrast={how}]"], said, held_to)
        assert f"|contrast:{how}|" in str(asked.signature)
        assert asked.samples.tolist() == named.samples.tolist()


def test_contrasted_an_affix_that_fits_clips_that_are_described_alike_gains_nothing() -> None:
    single = [own[1:] for own in SET]
    honest = [f"A {one}." for one in SOUNDS]
    for affix in ("{} while rain falls.", "{} in the street.", "In the street, {}."):
        told = [affix.format(one[2:-1]) for one in honest]
        plainly = [compute(["coverage"], own, single)[0].score for own in (told, honest)]
        assert plainly[0] > plainly[1] or "street" in affix
        assert contrasted(told, single).score < contrasted(honest, single).score


WHERE = ("near", "in a hall", "at night", "by a river", "over a phone")
WAYS = [
    (f"A {one} {where} while rain falls", f"While it rains, a {one} {where}")
    for one in SOUNDS
    for where in WHERE
]


@pytest.mark.parametrize("count", [FEWEST, len(WAYS)])
def test_contrasted_a_detail_that_all_references_name_is_worth_next_to_nothing(count: int) -> None:
    """It makes a caption that is too short less so; what it says gains nothing."""
    honest = [own[0].removesuffix(" while rain falls") for own in WAYS[:count]]
    told = [f"{one} while rain falls" for one in honest]
    gains = {}
    for metric in ("preference", "preference[contrast=none]"):
        before, after = (compute([metric], one, WAYS[:count])[0].score for one in (honest, told))
        gains[metric] = after - before
    assert gains["preference"] < gains["preference[contrast=none]"] / 15


@pytest.mark.parametrize(
    "affix",
    [
        *("{} one two three quickly huge", "{}, rhythmic near and far", "twice far {}"),
        '{} "rain, dog, man, bell, car, baby, bird, street, hall, night, river, phone, door, wind"',
    ],
)
def test_contrasted_a_caption_of_few_words_gains_nothing_by_more(affix: str) -> None:
    """What says nothing of a clip does not make up for what is missing."""
    honest = [f"A {one}" for one in SOUNDS for _ in WHERE]
    told = [affix.format(one) for one in honest]
    before, after = (compute(["preference"], one, WAYS)[0].score for one in (honest, told))
    assert after < before + 0.001


@pytest.mark.parametrize(
    "affix", "later|again|surface|thud|more|noise|outside|stops|, quietly|. Clash".split("|")
)
def test_contrasted_no_word_behind_all_captions_is_for_nothing(affix: str) -> None:
    """What stands last has to fit its clip, so that nobody completes by it what others cut off."""
    honest = [f"Rain falls and a {one}." for one in SOUNDS for _ in WHERE]
    told = [f"{one[:-1]}{' ' * affix[0].isalpha()}{affix}." for one in honest]
    before, after = (compute(["preference"], one, WAYS)[0].samples for one in (honest, told))
    assert (before - after).mean() > 0.003


def test_contrasted_the_order_of_rows_and_of_references_counts_nothing() -> None:
    clips = [(*own, f"{own[0]} for {seconds} seconds") for own in WAYS for seconds in range(2, 12)]
    said = [f"A {one} outside" for one in SOUNDS for _ in range(len(clips) // len(SOUNDS))]
    first = contrasted(said, clips).samples
    assert len(clips) > 256
    turned = contrasted(said[::-1], [own[::-1] for own in clips[::-1]]).samples[::-1]
    assert turned == pytest.approx(first, abs=1e-12)
    # A clip that comes again is one clip, in whichever order its references are written.
    again = contrasted([*said, *said], [*clips, *(own[::-1] for own in clips)]).samples
    assert again[: len(said)] == pytest.approx(first, abs=1e-12)


def test_how_references_are_written_does_not_decide_whether_there_is_a_set() -> None:
    clips = [(f"A {one}", f"The {one}") for one in SOUNDS]
    loud = [tuple(f"**{text.upper()}**" for text in own[::-1]) for own in clips]
    said = [f"A {one} nearby" for one in SOUNDS] * 2
    assert len({*clips, *loud}) >= FEWEST > len(clips)
    found, plainly = (compute(["preference"], said, [*clips, *own])[0] for own in (loud, clips))
    assert "|contrast:none|" in str(found.signature)
    assert found.samples == pytest.approx(plainly.samples, abs=1e-9)


class Sentences:
    """An encoder of sentences that are all alike."""

    name = "alike"

    def encode(self, sentences: Sequence[str]) -> Any:
        return np.ones((len(sentences), 1), dtype=np.float32)


def test_contrasted_similarity_counts_as_far_as_length_does() -> None:
    said = [f"A {one}" for one in SOUNDS]
    said[0] += f" and {said[1]} and {said[2]} and {said[3]} and {said[4]}"
    whole, held = (features(said, SET, Sentences(), contrast=one) for one in (False, True))
    assert whole["similarity"] == pytest.approx(1)
    assert held["similarity"] == pytest.approx(1 / (1 + 0.4 * (1 / whole["length"] - 1)))
    assert held["similarity"][0] < 0.8
    assert held["similarity"][1:].min() == 1


def test_contrasted_the_right_caption_is_above_each_of_the_others() -> None:
    right = contrasted([f"A {one}" for one in SOUNDS]).samples
    wrong = contrasted([f"A {one}" for one in SOUNDS[1:] + SOUNDS[:1]]).samples
    assert (right > wrong + 0.1).all()


@pytest.mark.parametrize(
    ("metric", "clips", "why"),
    [
        ("preference[contrast=set]", 1, "two at the least"),
        ("preference[contrast=yes]", 6, "write set"),
    ],
)
def test_contrast_needs_a_set(metric: str, clips: int, why: str) -> None:
    with pytest.raises(MetricError, match=why):
        compute([metric], ["A dog barks"] * clips, SET[:clips])
    with pytest.raises(MetricError, match="with references"):
        prepare(contrast="set", references="none", clap="laion")


def test_what_is_invented_left_out_or_broken_off_costs() -> None:
    good, invented, short, broken, salad = preference(
        [
            "A dog barks while a man speaks",
            "A dog barks while a man speaks and a train passes",
            "A dog barks",
            "A dog barks while a man speaks and a",
            "man dog barks speaks loudly",
        ],
        [REFERENCES] * 5,
    ).samples
    assert good > max(invented, short, broken, salad)


@pytest.mark.parametrize("hidden", ["in the background", "with background noise", "nearby"])
def test_a_caption_that_is_cut_off_gains_nothing_by_what_hides_it(hidden: str) -> None:
    cut = [f"{own[0]} and then the" for own in WAYS]
    before, after = (
        compute(["preference"], texts, WAYS)[0].score
        for texts in (cut, [f"{one} {hidden}" for one in cut])
    )
    assert after < before + 0.005


def test_it_explains_itself_for_each_caption(tmp_path: Path) -> None:
    predictions, references = tmp_path / "p.csv", tmp_path / "r.csv"
    predictions.write_text("id,prediction\na,A dog barks and a train passes while a\n", "utf-8")
    references.write_text(f"id,reference\na,{REFERENCES[0]}\n", "utf-8")
    out = tmp_path / "samples.csv"
    run_command(
        *("score", "--predictions", str(predictions), "--references", str(references)),
        *("--metrics", "preference,coverage", "--per-sample", str(out)),
    )
    with out.open(encoding="utf-8", newline="") as file:
        (row,) = csv.DictReader(file)
    why = row["preference: reasoning"]
    assert all(word in why for word in ("dog", "train", "breaks off"))
    assert "coverage: reasoning" not in row


@pytest.fixture(scope="module")
def study() -> dict[str, Any]:
    folder = resources.files("audiocapbench.metrics.preference") / "weights"
    blend: dict[str, Any]
    contrast: dict[str, Any]
    blend, contrast = (
        json.loads((folder / name).read_text("utf-8"))["figures"]
        for name in ("blend.json", "contrast.json")
    )
    return blend | {f"{name}, contrast": figures for name, figures in contrast.items()}


@pytest.mark.parametrize(
    ("kind", "people", "voted", "false"),
    [
        ("caption2vec", 87.5, 75, 96),
        ("minilm", 88.5, 77, 97),
        ("caption2vec, contrast", 88, 75, 93.5),
        ("minilm, contrast", 88.5, 76.5, 97),
    ],
)
def test_it_agrees_with_people_as_was_promised(
    study: dict[str, Any], kind: str, people: float, voted: float, false: float
) -> None:
    figures = study[kind]["all features"]
    assert figures["people's pairs"]["all"] >= people
    assert figures["BRACE voted"] >= voted
    assert figures["BRACE hallucination"] >= false
    assert min(figures["mean loss by attack"].values()) > 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "file", "figure"),
    [
        ("brace-main", "brace/AudioCaps_Main.json", "BRACE voted"),
        ("brace-hallucination", "brace/AudioCaps_Hallu.json", "BRACE hallucination"),
    ],
)
def test_the_figures_of_the_study_are_those_of_the_metric(
    study: dict[str, Any], shared: Path, kind: str, file: str, figure: str
) -> None:
    """Of the weights that are shipped, without torch: BRACE took no part in learning them."""
    pairs = pair_set(kind, read_pairs(kind, [shared / file]))
    asked = [one for one in pairs.decided if not one.answer_set and one.references_first]
    first, second = (
        compute(["preference[contrast=none]"], texts, references)[0].samples
        for texts, references in (
            ([one.first for one in asked], [one.references_first for one in asked]),
            ([one.second for one in asked], [one.references_second for one in asked]),
        )
    )
    answers = np.array([one.answer for one in asked])
    right = np.where(answers == 0, first > second, second > first)
    assert round(100 * right.mean(), 1) == study["caption2vec"]["all features"][figure]
