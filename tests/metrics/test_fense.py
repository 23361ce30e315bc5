"""FENSE: its arithmetic against published figures, its detectors, and what it refuses."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from audiocapbench.benchmarks.corpora import check_metrics
from audiocapbench.errors import MetricError
from audiocapbench.metrics import compute
from audiocapbench.metrics.date.metric import date_and_parts
from audiocapbench.metrics.encoders import load
from audiocapbench.metrics.fluency.detector import load_detector
from audiocapbench.metrics.fluency.fense import detect, fense, penalise, similarity
from needs import needs

NO_SBERT = "the extra sbert is not installed"
NO_MINILM = "no package carries the weights of all-MiniLM-L6-v2"


def all_broken(captions: Sequence[str]) -> list[float]:
    return [0.95] * len(captions)


def all_whole(captions: Sequence[str]) -> list[float]:
    return [0.9] * len(captions)


def test_a_broken_caption_keeps_a_tenth_of_its_similarity() -> None:
    predictions, references = ["a dog barks and a", "rain"], [["a dog barks"], ["rain falls"]]
    plain = similarity(predictions, references).samples
    result = fense(predictions, references, "caption2vec", all_broken)
    np.testing.assert_allclose(result.samples, 0.1 * plain, atol=1e-12)


def test_a_probability_at_the_threshold_is_not_above_it() -> None:
    predictions, references = ["a dog barks"], [["a hound"]]
    plain = similarity(predictions, references).samples
    result = fense(predictions, references, "caption2vec", all_whole)
    np.testing.assert_array_equal(result.samples, plain)


def test_other_metrics_have_a_threshold_and_a_penalty_of_their_own() -> None:
    kept = penalise([0.8, 0.8], [0.5, 0.9], threshold=0.5, penalty=0.25)
    np.testing.assert_allclose(kept, [0.8, 0.6])


def test_an_empty_prediction_scores_zero() -> None:
    assert fense([""], [["a dog"]], "caption2vec", load_detector()).score == 0


def test_without_a_detector_the_message_says_where_to_get_one() -> None:
    with pytest.raises(MetricError, match=r"echecker_clotho_audiocaps_base\.ckpt"):
        fense(["a"], [["a"]], "caption2vec")


@pytest.mark.parametrize("values", [[0.1], [0.1, 1.2], [0.1, float("nan")], [[0.1], [0.2]]])
def test_probabilities_that_are_none_are_refused(values: list[float]) -> None:
    with pytest.raises(MetricError, match="The error detector gave"):
        fense(["a", "b"], [["a"], ["b"]], "caption2vec", lambda _: values)


def test_the_signature_names_encoder_and_detector() -> None:
    detector = load_detector()
    signature = str(fense(["a"], [["a"]], "caption2vec", detector).signature)
    assert f"encoder:{load('caption2vec').name}|refs:mean|detector:{detector.name}|" in signature
    assert "detector:all_broken|" in str(fense(["a"], [["a"]], "caption2vec", all_broken).signature)


def test_a_checkpoint_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(MetricError, match="There is no checkpoint at"):
        fense(["a"], [["a"]], "caption2vec", tmp_path / "none.ckpt")


class TestCheckpoint:
    """A checkpoint in the published layout, small and with random weights."""

    WORDS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "dog", "barks", "and", "rain")

    @pytest.fixture
    def folder(self, tmp_path: Path) -> Path:
        torch = needs("torch")
        transformers = needs("transformers")
        torch.manual_seed(3)
        config = transformers.BertConfig(
            vocab_size=len(self.WORDS),
            hidden_size=128,
            num_hidden_layers=2,
            num_attention_heads=2,
            intermediate_size=512,
        )
        model, linear = transformers.BertModel(config).eval(), torch.nn.Linear(128, 6)
        state = {f"encoder.{key}": value for key, value in model.state_dict().items()}
        state["encoder.embeddings.position_ids"] = torch.arange(512)[None]
        state |= {f"clf.{key}": value * 5 for key, value in linear.state_dict().items()}
        content = {"model_type": "no/such-bert", "num_classes": 6, "state_dict": state}
        torch.save(content, tmp_path / "small.ckpt")
        (tmp_path / "vocab.txt").write_text("\n".join(self.WORDS), encoding="utf-8")
        ids = torch.tensor([[2, 5, 6, 7, 3, *[0] * 59]])
        with torch.inference_mode():
            first = model(ids, attention_mask=(ids > 0).long()).last_hidden_state[:, 0]
            last = linear.weight[-1] * 5 @ first[0] + linear.bias[-1] * 5
        self.expected = float(torch.sigmoid(last))
        return tmp_path

    def test_it_gives_the_last_class_of_a_text_padded_or_not(self, folder: Path) -> None:
        from audiocapbench.metrics.fluency.fense import load_checkpoint

        detector = load_checkpoint(folder / "small.ckpt")
        # FENSE takes out what is neither a word nor a space before its BERT reads a caption.
        texts = ["a dog barks", "A dog, BARKS.", "rain and rain " * 100, "", "\ud800\0"]
        found = detector.error_probabilities(texts)
        assert found[:2] == pytest.approx([self.expected] * 2, abs=1e-5)
        assert ((found >= 0) & (found <= 1)).all()
        np.testing.assert_allclose(detector.error_probabilities(texts[::-1])[::-1], found)

    def test_fense_takes_its_path(self, folder: Path) -> None:
        result = fense(["a dog barks"], [["a dog"]], "caption2vec", str(folder / "small.ckpt"))
        assert "detector:small@" in str(result.signature)

    def test_date_takes_its_path_and_cuts_what_it_finds_broken(self, folder: Path) -> None:
        texts, references = ["a dog barks", "rain falls"], [["a dog"], ["it rains"]]
        path = folder / "small.ckpt"
        name = f"date[detector={path}]"
        (found,) = compute([name], texts, references)
        assert "fluency:small@" in str(found.signature)
        same = date_and_parts(texts, references, error_probabilities=detect(texts, path)[1])[0]
        assert found.samples.tolist() == same.samples.tolist()
        with pytest.raises(MetricError, match="nowhere"):
            check_metrics(None, ["date[detector=nowhere.ckpt]"])

    def test_a_missing_vocabulary_is_asked_for(self, folder: Path) -> None:
        (folder / "vocab.txt").unlink()
        with pytest.raises(MetricError, match=r"put its vocab\.txt beside"):
            fense(["a"], [["a"]], "caption2vec", folder / "small.ckpt")

    @pytest.mark.parametrize("content", [b"", b"not a checkpoint", b"PK\x03\x04"])
    def test_another_kind_of_file_is_refused(self, folder: Path, content: bytes) -> None:
        (folder / "other.ckpt").write_bytes(content)
        with pytest.raises(MetricError, match="holds weights of a BERT classifier alone"):
            fense(["a"], [["a"]], "caption2vec", folder / "other.ckpt")

    def test_a_checkpoint_that_would_run_code_is_refused(self, folder: Path) -> None:
        torch = needs("torch")
        torch.save({"model_type": Path("x"), "state_dict": print}, folder / "evil.ckpt")
        with pytest.raises(MetricError, match="holds weights of a BERT classifier alone"):
            fense(["a"], [["a"]], "caption2vec", folder / "evil.ckpt")

    def test_weights_of_something_else_are_refused(self, folder: Path) -> None:
        torch = needs("torch")
        torch.save({"model_type": "x", "state_dict": {"a": torch.ones(1)}}, folder / "x.ckpt")
        with pytest.raises(MetricError, match="weights of a BERT classifier alone"):
            fense(["a"], [["a"]], "caption2vec", folder / "x.ckpt")
        torch.save([1, 2], folder / "list.ckpt")
        with pytest.raises(MetricError, match="is not a FENSE checkpoint"):
            fense(["a"], [["a"]], "caption2vec", folder / "list.ckpt")
