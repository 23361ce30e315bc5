"""What aac-metrics has by name: each against its formula, computed anew here or by the original."""

import json
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sound_plugin
from audiocapbench import score
from audiocapbench.benchmarks import open_benchmark
from audiocapbench.data import Clip
from audiocapbench.errors import AudioCapBenchError, MetricError
from audiocapbench.metrics import METRICS, compute, find_metric, java
from audiocapbench.metrics.clap import load_encoder
from audiocapbench.metrics.clap.scoring import clip_vectors, mace
from audiocapbench.metrics.ngrams import cider_d
from audiocapbench.metrics.result import MetricResult
from audiocapbench.signature import sign
from command import run_command
from folders import write_folder
from needs import needs

SAID = ["A dog barks, loudly!", "rain falls on a tin roof", "", "a dog"]
KNOWN = [["a dog is barking", "a dog barks"], ["heavy rain"], ["birds sing"], ["a dog", "a cat"]]
PEERS = ("bert_score", "clap_sim", "mace", "spider_max", "vocab")


def word_sets() -> tuple[set[str], set[str]]:
    said = {"a", "dog", "barks", "loudly", "rain", "falls", "on", "tin", "roof"}
    known = {"a", "dog", "is", "barking", "barks", "heavy", "rain", "birds", "sing", "cat"}
    return said, known


@pytest.mark.parametrize(
    ("of", "expected"),
    [
        ("cands", 9),
        ("ratio_full", 9 / 10),
        ("precision", 4 / 9),
        ("recall", 4 / 10),
        ("jaccard", 4 / 15),
        ("novelty", 5 / 9),
    ],
)
def test_vocab_is_counted_over_all_captions(of: str, expected: float) -> None:
    said, known = word_sets()
    sizes = (len(said), len(known), len(said & known), len(said | known))
    assert sizes == (9, 10, 4, 15)
    [result] = compute([f"vocab[of={of}]"], SAID, KNOWN)
    assert result.score == pytest.approx(expected, abs=1e-12)
    assert result.signature.get("of") == of


def test_vocab_does_not_change_with_captions_that_are_missing_or_blank() -> None:
    [whole] = compute(["vocab"], SAID, KNOWN)
    [missing] = compute(["vocab"], [*SAID, None, " ", "…"], [*KNOWN, *KNOWN[:3]])
    assert whole.score == pytest.approx(9, abs=1e-12)
    assert missing.score == pytest.approx(9, abs=1e-12)
    assert compute(["vocab"], [""], [["a"]])[0].score == 0
    with pytest.raises(MetricError, match=r"no kind of vocab 'novel'; did you mean 'novelty'"):
        compute(["vocab[of=novel]"], SAID, KNOWN)


def test_a_share_of_words_has_the_interval_of_a_share() -> None:
    found = score(["a dog barks"] * 30, [["a dog barks"]] * 30, "vocab[of=novelty]")
    assert found.value == 0
    assert found.interval is not None
    assert found.interval.high < 0.2


def shorter_is_better(
    predictions: Sequence[str], references: Sequence[Sequence[str]], timeout: float = 0
) -> MetricResult:
    """In place of SPICE's jar."""
    assert len(predictions) == len(references)
    values = np.array([1 / (1 + len(text)) for text in predictions])
    return MetricResult.of_means("spice", sign("spice"), values)


@pytest.fixture
def spiced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(java, "spice", shorter_is_better)
    monkeypatch.setattr(java, "prepare_spice", lambda: None)


SEVERAL = [
    ["a dog barks", "a dog", "an unheard word"],
    ["rain", "heavy rain", "rain falls"],
    ["birds", "x", "birds sing"],
    ["a dog", "a cat", "dog"],
]


def best_of(candidates: Sequence[Sequence[str]]) -> list[float]:
    """As ``mult_cands_metric`` does: SPIDEr of the first candidates of all, then of the second."""
    turns = list(zip(*candidates, strict=True))
    spiders = [
        (cider_d(turn, KNOWN).samples + shorter_is_better(turn, KNOWN).samples) / 2
        for turn in turns
    ]
    found: list[float] = np.max(spiders, axis=0).tolist()
    return found


@pytest.mark.usefixtures("spiced")
def test_spider_max_takes_the_best_of_several_candidates(tmp_path: Path) -> None:
    expected = best_of(SEVERAL)
    result = score(SEVERAL, KNOWN, "spider_max")
    assert list(result.samples["spider_max"].values()) == pytest.approx(expected, abs=1e-12)
    assert result.signature.get("candidates") == "3"
    ids = "abcd"
    rows = [{"id": key, "prediction": own} for key, own in zip(ids, SEVERAL, strict=True)]
    said, known = tmp_path / "said.jsonl", tmp_path / "known.json"
    said.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    known.write_text(json.dumps(dict(zip(ids, KNOWN, strict=True))), "utf-8")
    by_file = score(said, known, "spider_max")
    assert by_file.samples["spider_max"] == pytest.approx(
        dict(zip(ids, expected, strict=True)), abs=1e-12
    )
    cells = [
        "id,prediction",
        *(
            '{},"{}"'.format(row["id"], json.dumps(row["prediction"]).replace('"', '""'))
            for row in rows
        ),
    ]
    table = tmp_path / "said.csv"
    table.write_text("\n".join(cells), "utf-8")
    assert score(table, known, "spider_max").samples == by_file.samples


@pytest.mark.usefixtures("spiced")
def test_of_one_candidate_spider_max_is_spider() -> None:
    texts = ["[music] a dog", "['a dog', 'barks']", "", "rain, rain"]
    [alone] = compute(["spider"], ["[music] a dog", "", "", "rain, rain"], KNOWN)
    [found] = compute(["spider_max"], ["[music] a dog", "", "", "rain, rain"], KNOWN)
    assert found.samples.tolist() == alone.samples.tolist()
    # A caption that looks like a list is one where it stands in a list.
    result = score([[text] for text in texts], KNOWN, "spider_max")
    assert result.signature.get("candidates") == "1"


@pytest.mark.usefixtures("spiced")
def test_lists_are_only_for_metrics_that_take_several(tmp_path: Path) -> None:
    for metrics in ("rouge_l", "spider_max,rouge_l"):
        with pytest.raises(AudioCapBenchError, match="text"):
            score(SEVERAL, KNOWN, metrics)
    with pytest.raises(MetricError, match=r"as many candidates a sample, not \[2, 3\]"):
        score([SEVERAL[0], SEVERAL[1][:2], *SEVERAL[2:]], KNOWN, "spider_max")
    said = tmp_path / "said.jsonl"
    said.write_text('{"id": "a", "prediction": ["x y", "z"], "references": ["x"]}', "utf-8")
    done = run_command(
        *("score", "--predictions", said.name, "--references", said.name), "--metrics", "rouge_l",
        cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode != 0
    assert "its prediction is a list of texts; give one" in " ".join(done.stderr.split())


def test_they_are_listed_with_what_they_need() -> None:
    for name in PEERS:
        metric = METRICS[name]
        assert metric.description
        assert bool(metric.needs) == (name != "vocab")
    assert METRICS["spider_max"].several
    assert not find_metric("clap_sim")[0].hears
    for name in ("clap_sim[method=audio]", "mace[method=combined]"):
        assert find_metric(name)[0].hears
        with pytest.raises(MetricError, match="hears the clips, and here are only texts"):
            score(["a"], [["b"]], name)


def test_what_cannot_be_had_is_asked_for_in_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    needs("torch", "sentence_transformers")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    for name, reason in {
        "bert_score": r"'roberta-large' is not on this disk: give bert_score\[model=FOLDER\]",
        f"bert_score[model={tmp_path}]": "is not on this disk",
        "bert_score[idf=maybe]": "idf is yes or no",
        "clap_sim[method=both]": "no method of clap_sim 'both'",
        "mace": r"needs an error detector: write mace\[detector=PATH\]",
        "clap_sim[encoder=laion]": "downloads are off",
    }.items():
        with pytest.raises(MetricError, match=reason):
            score(["a dog"], [["a dog"]], name)


class TestClap:
    """CLAP's cosines and MACE, by an encoder of numpy alone."""

    @pytest.fixture
    def heard(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Clip]]:
        with sound_plugin.installed(tmp_path / "site", monkeypatch):
            write_folder(tmp_path / "tones", 4)
            yield [one.clip for one in open_benchmark(str(tmp_path / "tones")).samples]

    def cosine(self, left: Any, right: Any) -> float:
        return float(left @ right / np.linalg.norm(left) / np.linalg.norm(right))

    def expected(self, clips: Sequence[Clip]) -> tuple[list[float], list[float]]:
        encoder = load_encoder("bands")
        sounds = clip_vectors(clips, encoder="bands")

        def embed(text: str) -> Any:
            return encoder.encode_text([text])[0]

        by_text, by_audio = [0.0] * 4, [0.0] * 4
        for row, (text, own) in enumerate(zip(SAID, KNOWN, strict=True)):
            if text:
                cosines = [self.cosine(embed(text), embed(one)) for one in own]
                by_text[row] = sum(cosines) / len(cosines)
                by_audio[row] = self.cosine(embed(text), sounds[row])
        return by_text, by_audio

    def test_clap_sim_is_the_mean_cosine_with_references_or_clips(self, heard: list[Clip]) -> None:
        by_text, by_audio = self.expected(heard)
        assert min(by_text + by_audio) < 0, "a cosine below 0 is not cut off"
        found = {
            method: compute([f"clap_sim[encoder=bands,method={method}]"], SAID, KNOWN, clips=heard)
            for method in ("text", "audio", "combined")
        }
        # Embeddings are kept in single precision.
        assert found["text"][0].samples.tolist() == pytest.approx(by_text, abs=1e-6)
        assert found["audio"][0].samples.tolist() == pytest.approx(by_audio, abs=1e-6)
        both = (np.array(by_text) + by_audio) / 2
        assert found["combined"][0].samples.tolist() == pytest.approx(both.tolist(), abs=1e-6)
        [alone] = compute(["clap_sim[encoder=bands]"], SAID, KNOWN)
        assert alone.samples.tolist() == found["text"][0].samples.tolist()
        assert str(alone.signature) == "clap_sim|model:bands@1|method:text|protocol:1"
        assert "|method:audio|windows:slide|" in str(found["audio"][0].signature)

    def test_mace_keeps_seven_tenths_of_a_broken_caption(self, heard: list[Clip]) -> None:
        sure = np.array([0.98, 0.97, 0.5, 1.0])
        for method, whole in zip(("text", "audio"), self.expected(heard), strict=True):
            how = {"encoder": "bands", "method": method, "clips": heard}
            result = mace(SAID, KNOWN, lambda _: sure, **how)
            expected = np.array(whole) * (1 - 0.3 * (sure > 0.97))
            assert result.samples.tolist() == pytest.approx(expected.tolist(), abs=1e-6)
            assert str(result.signature).startswith("mace|model:bands@1|method:")
            assert "|threshold:0.97|penalty:0.3|" in str(result.signature)


class TestBertScore:
    """Against torchmetrics, on which aac-metrics' ``bert_score_mrefs`` rests: a pair at a time, for
    it takes texts of several lengths for each other."""

    @pytest.fixture(scope="class")
    @classmethod
    def folder(cls, tmp_path_factory: pytest.TempPathFactory) -> Path:
        torch, transformers = needs("torch", "sentence_transformers"), needs("transformers")
        from tiny_clap import _tokenizer

        folder = tmp_path_factory.mktemp("bert")
        torch.manual_seed(1)
        config = transformers.RobertaConfig(
            vocab_size=300,
            hidden_size=32,
            num_hidden_layers=2,
            num_attention_heads=2,
            intermediate_size=64,
            max_position_embeddings=130,
            pad_token_id=1,
        )
        model = transformers.RobertaModel(config)
        with torch.no_grad():
            for weights in model.parameters():
                if weights.ndim > 1:
                    weights.normal_(0, 0.5)
        model.save_pretrained(folder)
        _tokenizer().save_pretrained(folder)
        return folder

    @pytest.mark.parametrize("layers", ["", "1"])
    def test_it_is_the_best_f1_of_a_pair(self, folder: Path, layers: str) -> None:
        expected = self.original(folder, int(layers) if layers else None)
        options = f"model={folder}" + (f",layers={layers}" if layers else "")
        [found] = compute([f"bert_score[{options}]"], SAID, KNOWN)
        # The network computes in single precision, in batches of other shapes.
        assert found.samples.tolist() == pytest.approx(expected, abs=2e-6)
        assert found.samples[2] == 0
        assert found.samples[3] == pytest.approx(1, abs=1e-6)
        assert f"|layer:{layers or 2}|" in str(found.signature)

    def original(self, folder: Path, layers: int | None) -> list[float]:
        needs("torchmetrics")
        from torchmetrics.functional.text.bert import bert_score
        from transformers import AutoModel, AutoTokenizer

        how: dict[str, Any] = {"model": AutoModel.from_pretrained(folder).eval(), "max_length": 64}
        how |= {"user_tokenizer": AutoTokenizer.from_pretrained(folder), "num_layers": layers}
        return [
            max(float(bert_score([text], [one], **how)["f1"]) for one in own)
            for text, own in zip(SAID, KNOWN, strict=True)
        ]

    def test_with_idf_what_many_references_have_weighs_less(self, folder: Path) -> None:
        from math import log

        from audiocapbench.metrics.bert_score import _embed, open_bert

        encoder, layer, _ = open_bert(model=str(folder))
        lines = _embed([*SAID, *chain(*KNOWN)], encoder, layer)
        count = [set(lines[text][0]) for own in KNOWN for text in own]

        def share(ids: Sequence[int], cosines: Any) -> float:
            weights = [
                log((len(count) + 1) / (1 + sum(one in own for own in count))) for one in ids
            ]
            return float(np.dot(weights, cosines)) / sum(weights)

        (ids, ours), (others, theirs) = lines[SAID[1]], lines["heavy rain"]
        cosines = np.maximum(ours @ theirs.T, 0)
        precision, recall = share(ids, cosines.max(1)), share(others, cosines.max(0))
        [found] = compute([f"bert_score[model={folder},idf=yes]"], SAID, KNOWN)
        expected = 2 * precision * recall / (precision + recall)
        assert found.samples[1] == pytest.approx(expected, abs=1e-9)
        assert find_metric("bert_score[idf=yes]")[0].of_corpus

    def test_a_layer_that_is_not_there_is_refused(self, folder: Path) -> None:
        for layers in ("3", "0", "-1", "x"):
            with pytest.raises(MetricError, match=f"has the layers 1 to 2, not {layers}"):
                compute([f"bert_score[model={folder},layers={layers}]"], SAID, KNOWN)
