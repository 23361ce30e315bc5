"""BERTScore (Zhang et al., 2020) by any encoder of transformers, as aac-metrics computes it."""

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from itertools import chain
from math import log
from pathlib import Path

import numpy as np

from audiocapbench.errors import MetricError
from audiocapbench.metrics.clap.laion import yes_no
from audiocapbench.metrics.encoders.encoder import Vectors, label_of, readable
from audiocapbench.metrics.encoders.sbert import SentenceTransformerEncoder, load_folder
from audiocapbench.metrics.result import MetricResult, check_captions
from audiocapbench.models.checkpoint import snapshot
from audiocapbench.plugins import require_packages
from audiocapbench.signature import sign

_BATCH = 64


def bert_score(
    predictions: Sequence[str], references: Sequence[Sequence[str]], **options: str
) -> MetricResult:
    """Score with the highest F1 of a prediction and one of its references.

    Precision is the mean over the prediction's tokens of the cosine with the nearest token of the
    reference, at least 0, and recall the other way round; with idf a token that n of N references
    have weighs log((N + 1) / (n + 1)). Pair by pair it is equal to aac-metrics', whose torchmetrics
    (1.9) takes texts of different lengths for each other when it is given several.
    """
    check_captions(predictions, references)
    encoder, layer, weighs = open_bert(**options)
    lines = _embed([*predictions, *chain.from_iterable(references)], encoder, layer)
    known = [set(lines[text][0]) for own in references for text in own]
    users = Counter(chain.from_iterable(known))

    def mean(ids: Sequence[int], cosines: Vectors) -> float:
        weights = [log((len(known) + 1) / (users[one] + 1)) if weighs else 1.0 for one in ids]
        return float(np.dot(weights, cosines)) / (sum(weights) or 1.0)

    def f1(prediction: str, reference: str) -> float:
        (ids, ours), (others, theirs) = lines[prediction], lines[reference]
        if not ids or not others:
            return 0.0
        cosines = np.maximum(ours @ theirs.T, 0)
        precision, recall = mean(ids, cosines.max(axis=1)), mean(others, cosines.max(axis=0))
        return 2 * precision * recall / (precision + recall or 1.0)

    pairs = zip(predictions, references, strict=True)
    samples = np.array([max(f1(text, one) for one in own) for text, own in pairs])
    how = {"model": encoder.name, "layer": str(layer), "refs": "max"}
    how |= {"idf": "refs"} if weighs else {}
    return MetricResult.of_means("bert_score", sign("bert_score", protocol=1, **how), samples)


@lru_cache(maxsize=1)
def open_bert(
    model: str = "roberta-large", layers: str = "", **options: str
) -> tuple[SentenceTransformerEncoder, int, bool]:
    """A model of transformers, the layer to take of it, and whether tokens weigh by idf."""
    weighs, download = (yes_no("bert_score", key, options) for key in ("idf", "download"))
    require_packages(MetricError, "bert_score", "sbert", "sentence_transformers")
    is_here = Path(model).is_dir()
    folder = Path(model) if is_here else snapshot(model, MetricError, download=download)
    if folder is None or not (folder / "config.json").is_file():
        raise MetricError(
            f"bert_score's model {model!r} is not on this disk: give bert_score[model=FOLDER] of "
            "a model of transformers, or allow a download with bert_score[download=yes]"
        )
    encoder = load_folder(folder, label_of(model), plain=True)
    count = int(encoder.model[0].auto_model.config.num_hidden_layers)
    if layers and layers not in map(str, range(1, count + 1)):
        raise MetricError(f"bert_score: this model has the layers 1 to {count}, not {layers}")
    return encoder, int(layers or count), weighs


def _embed(
    texts: Sequence[str], encoder: SentenceTransformerEncoder, layer: int
) -> dict[str, tuple[list[int], Vectors]]:
    """Tokens of each text and their vectors at unit length, without the marks of both ends."""
    model, found = encoder.model, dict[str, tuple[list[int], Vectors]]()
    distinct = sorted(set(texts), key=lambda text: (len(text), text))
    for start in range(0, len(distinct), _BATCH):
        batch = distinct[start : start + _BATCH]
        # Of its places, some models keep two for themselves.
        cut = {"truncation": True, "max_length": model.max_seq_length - 2, "padding": True}
        fed = model.tokenizer(list(map(readable, batch)), **cut, return_tensors="pt")
        ids, mask = (fed[key].to(model.device) for key in ("input_ids", "attention_mask"))
        with encoder.computing():
            states = model[0].auto_model(ids, mask, output_hidden_states=True).hidden_states[layer]
        rows = (states / states.norm(dim=-1, keepdim=True)).cpu().numpy()
        kept = mask.cpu().numpy() > 0
        for text, own, vectors, inside in zip(batch, ids.cpu().numpy(), rows, kept, strict=True):
            found[text] = own[inside][1:-1].tolist(), vectors[inside][1:-1]
    return found
