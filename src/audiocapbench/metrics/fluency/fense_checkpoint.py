"""The published error detectors of FENSE, read from a checkpoint on disk; nothing is downloaded.

A checkpoint is a dictionary of ``model_type`` (a BERT on the Hugging Face hub), ``num_classes`` and
``state_dict`` (``encoder.*``, ``clf.*``). The last class says whether there is any error.
"""

import hashlib
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from audiocapbench.errors import MetricError
from audiocapbench.metrics.encoders.hub import label_of, require
from audiocapbench.metrics.result import FloatArray

_LONGEST = 64
_BATCH = 64
_HEAD_WIDTH = 64
_PUBLISHED = {
    "1a719f090af70614bbdb9f9437530b7e133c48cfa4a58d964de0d47fc974a2fa": "base",
    "90ed0ac5033ec497ec66d4f68588053813e085671136dae312097c96c504f673": "tiny",
}


class CheckpointDetector:
    """A BERT whose first vector goes through a linear layer with a sigmoid for each error."""

    def __init__(self, name: str, model: Any, classifier: Any, tokenizer: Any) -> None:
        self.name = name
        self._model, self._classifier, self._tokenizer = model, classifier, tokenizer

    def error_probabilities(self, captions: Sequence[str]) -> FloatArray:
        """The probability that each caption is broken; each distinct caption is read once."""
        distinct = sorted(set(captions), key=lambda text: (len(text), text))
        found: dict[str, float] = {}
        for start in range(0, len(distinct), _BATCH):
            batch = distinct[start : start + _BATCH]
            found.update(zip(batch, self._batch(batch), strict=True))
        return np.array([found[caption] for caption in captions], dtype=np.float64)

    def _batch(self, captions: list[str]) -> list[float]:
        import torch

        texts = [caption.encode("utf-8", "replace").decode("utf-8") for caption in captions]
        inputs = self._tokenizer(
            texts, truncation=True, padding=True, max_length=_LONGEST, return_tensors="pt"
        )
        with torch.inference_mode():
            first = self._model(**inputs).last_hidden_state[:, 0]
            probabilities: list[float] = torch.sigmoid(self._classifier(first))[:, -1].tolist()
        return probabilities


@lru_cache(maxsize=2)
def load_checkpoint(path: Path) -> CheckpointDetector:
    """Load a checkpoint; its vocabulary lies beside it, or in the local Hugging Face cache.

    Raises:
        MetricError: If it is not there, is not such a checkpoint, or lacks its vocabulary.
    """
    if not path.is_file():
        raise MetricError(
            f"There is no checkpoint at {path}: fetch echecker_clotho_audiocaps_base.ckpt from the "
            "releases of FENSE, or use fluent_similarity, which has its own detector."
        )
    require("A FENSE checkpoint", "sbert", "torch", "transformers")
    content = _read(path)
    model, classifier = _build(content["state_dict"], path)
    tokenizer = _vocabulary(path, str(content["model_type"]))
    with path.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    label = label_of(path.with_suffix(""))
    if digest in _PUBLISHED:
        label = f"echecker_clotho_audiocaps_{_PUBLISHED[digest]}"
    return CheckpointDetector(f"{label}@{digest[:8]}", model, classifier, tokenizer)


def _read(path: Path) -> dict[str, Any]:
    import torch

    try:
        content = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # a file that is something else can fail in any way
        raise MetricError(
            f"{path} is not a checkpoint that holds weights alone: fetch it again from the "
            "releases of FENSE."
        ) from error
    if not isinstance(content, dict) or not {"model_type", "state_dict"} <= content.keys():
        raise MetricError(
            f"{path} is not a FENSE checkpoint: it lacks 'model_type' or 'state_dict'."
        )
    return content


def _build(state: dict[str, Any], path: Path) -> tuple[Any, Any]:
    """Make the network that the weights fit, without asking the hub for its configuration."""
    import torch
    from transformers import BertConfig, BertModel

    own = {key.removeprefix("encoder."): value for key, value in state.items() if key[:4] != "clf."}
    own.pop("embeddings.position_ids", None)
    try:
        vocabulary, hidden = own["embeddings.word_embeddings.weight"].shape
        config = BertConfig(
            vocab_size=vocabulary,
            hidden_size=hidden,
            num_hidden_layers=len({key.split(".")[2] for key in own if "encoder.layer." in key}),
            num_attention_heads=hidden // _HEAD_WIDTH,
            intermediate_size=len(own["encoder.layer.0.intermediate.dense.weight"]),
            max_position_embeddings=len(own["embeddings.position_embeddings.weight"]),
            type_vocab_size=len(own["embeddings.token_type_embeddings.weight"]),
        )
        model = BertModel(config, add_pooling_layer="pooler.dense.weight" in own)
        model.load_state_dict(own)
        classifier = torch.nn.Linear(hidden, len(state["clf.bias"]))
        classifier.load_state_dict({"weight": state["clf.weight"], "bias": state["clf.bias"]})
    except (KeyError, RuntimeError, ValueError, AttributeError, TypeError) as error:
        raise MetricError(f"{path} does not hold the weights of a BERT classifier.") from error
    return model.float().eval(), classifier.float().eval()


def _vocabulary(path: Path, model_type: str) -> Any:
    from transformers import AutoTokenizer, BertTokenizerFast

    try:
        if (path.parent / "vocab.txt").is_file():
            return BertTokenizerFast.from_pretrained(path.parent, local_files_only=True)
        return AutoTokenizer.from_pretrained(model_type, local_files_only=True)
    except (OSError, ValueError) as error:
        raise MetricError(
            f"The vocabulary of {model_type!r} is not on this disk: put its vocab.txt beside "
            f"{path}."
        ) from error
