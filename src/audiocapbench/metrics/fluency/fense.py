"""Sentence similarity, the mean cosine between a prediction and its references, and FENSE, which
cuts it where a detector finds a caption broken.

FENSE's published detectors are read from a checkpoint on disk, and nothing is downloaded: it has
``model_type`` (a BERT on the Hugging Face hub), ``num_classes`` and ``state_dict`` (``encoder.*``,
``clf.*``). The last class says whether there is any error.
"""

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from audiocapbench.audio import sha256
from audiocapbench.errors import MetricError
from audiocapbench.metrics.encoders import DEFAULT, Encoder, load
from audiocapbench.metrics.encoders.encoder import label_of
from audiocapbench.metrics.result import FloatArray, MetricResult, check_captions
from audiocapbench.metrics.text import plain_captions
from audiocapbench.plugins import require_packages
from audiocapbench.signature import sign


@runtime_checkable
class ErrorDetector(Protocol):
    @property
    def name(self) -> str: ...

    def error_probabilities(self, captions: Sequence[str]) -> FloatArray:
        """The probability that each caption is broken, shape (n,)."""


THRESHOLD = 0.9
PENALTY = 0.9
_PAIRS_AT_ONCE = 8192
_LONGEST = 64
_BATCH = 64
_HEAD_WIDTH = 64
_NO_WORD = re.compile(r"[^\w\s]")  # which FENSE takes out; surrogates, too
_PUBLISHED = {
    "1a719f090af70614bbdb9f9437530b7e133c48cfa4a58d964de0d47fc974a2fa": "base",
    "90ed0ac5033ec497ec66d4f68588053813e085671136dae312097c96c504f673": "tiny",
}

Detector = str | Path | ErrorDetector | Callable[[Sequence[str]], ArrayLike]


def similarity(
    predictions: Sequence[str],
    references: Sequence[Sequence[str]],
    encoder: str | Encoder = DEFAULT,
) -> MetricResult:
    """Score predictions by the mean cosine between their embedding and their references'.

    A blank prediction scores 0, a blank reference is none. The encoder may be a name or a path.
    """
    model = load(encoder) if isinstance(encoder, str) else encoder
    samples = mean_cosines(*plain_captions(predictions, references), model)
    signature = sign("similarity", protocol=7, encoder=model.name, refs="mean")
    return MetricResult.of_means("similarity", signature, samples)


def mean_cosines(
    predictions: Sequence[str], references: Sequence[Sequence[str]], encoder: Encoder
) -> FloatArray:
    """Mean cosine of each prediction with its references, shape (n,), within -1 and 1."""
    check_captions(predictions, references, words_needed=True)
    kept = [[text for text in own if text.strip()] for own in references]
    counts = np.array([len(sample) for sample in kept], dtype=np.int64)
    vectors = encoder.encode([*predictions, *chain.from_iterable(kept)])
    ours, theirs = vectors[: len(predictions)], vectors[len(predictions) :]
    owner = np.repeat(np.arange(len(predictions)), counts)
    cosines = np.empty(len(owner), dtype=np.float64)
    for start in range(0, len(owner), _PAIRS_AT_ONCE):
        block = slice(start, start + _PAIRS_AT_ONCE)
        left, right = ours[owner[block]], theirs[block]
        cosines[block] = np.einsum("ij,ij->i", left, right, dtype=np.float64)
    totals = np.bincount(owner, weights=np.clip(cosines, -1, 1), minlength=len(predictions))
    return np.asarray(totals / counts)


def fense(
    predictions: Sequence[str],
    references: Sequence[Sequence[str]],
    encoder: str | Encoder = "tinybert",
    detector: Detector | None = None,
) -> MetricResult:
    """Score predictions by similarity, of which a broken caption keeps a tenth.

    A caption is broken when its probability of an error is above 0.9. The encoder is as
    for ``similarity``; the detector is the path of a published checkpoint, an ``ErrorDetector``,
    or a function from captions to probabilities of an error.
    """
    name, probabilities = detect(predictions, detector)
    model = load(encoder) if isinstance(encoder, str) else encoder
    cosines = mean_cosines(predictions, references, model)
    samples = penalise(cosines, probabilities)
    numbers = {"threshold": THRESHOLD, "penalty": PENALTY}
    signature = sign("fense", encoder=model.name, refs="mean", detector=name, protocol=1, **numbers)
    return MetricResult.of_means("fense", signature, samples)


def penalise(
    scores: FloatArray | Sequence[float],
    error_probabilities: FloatArray | Sequence[float],
    threshold: float = THRESHOLD,
    penalty: float = PENALTY,
) -> FloatArray:
    """Take the share ``penalty`` off the score of each caption that probably has an error."""
    values = np.asarray(scores, dtype=np.float64)
    probabilities = np.asarray(error_probabilities, dtype=np.float64)
    if values.shape != probabilities.shape:
        counts = f"{values.size} scores but {probabilities.size} error probabilities"
        raise MetricError(f"There are {counts}; give one probability for each score.")
    if not np.isfinite(probabilities).all():
        index = int(np.flatnonzero(~np.isfinite(probabilities))[0])
        raise MetricError(f"The error probability of sample {index} is not a number.")
    return np.where(probabilities > threshold, (1 - penalty) * values, values)


def detect(captions: Sequence[str], detector: Detector | None) -> tuple[str, FloatArray]:
    """Ask a detector about captions: its name, and the probability that each is broken."""
    detector = open_detector(detector, "fense")
    if isinstance(detector, ErrorDetector):
        name, values = detector.name, np.asarray(detector.error_probabilities(captions))
    else:
        name = getattr(detector, "__qualname__", type(detector).__name__).replace("|", "_")
        values = np.asarray(detector(captions), dtype=np.float64)
    if values.shape != (len(captions),):
        gave = f"an array of shape {values.shape} for {len(captions)} captions"
        raise MetricError(f"The error detector gave {gave}: it must give one probability each.")
    if not ((values >= 0) & (values <= 1)).all():
        raise MetricError("The error detector gave values that are not between 0 and 1.")
    return name, values


def open_detector(
    detector: Detector | None, metric: str
) -> ErrorDetector | Callable[[Sequence[str]], ArrayLike]:
    """The detector that a path or an object stands for; MetricError where there is none."""
    if detector is None or detector == "":
        raise MetricError(
            f"This metric needs an error detector: write {metric}[detector=PATH] with the path of "
            "echecker_clotho_audiocaps_base.ckpt (in Python, detector=PATH), or use "
            "fluent_similarity, which has its own."
        )
    return load_checkpoint(Path(detector)) if isinstance(detector, str | Path) else detector


def prepare_fense(encoder: str = "tinybert", detector: str = "") -> None:
    open_detector(detector, "fense")
    load(encoder)


class CheckpointDetector:
    """A BERT whose first vector goes through a linear layer with a sigmoid for each error."""

    def __init__(self, name: str, model: Any, classifier: Any, tokenizer: Any) -> None:
        self.name = name
        self._model, self._classifier, self._tokenizer = model, classifier, tokenizer

    def error_probabilities(self, captions: Sequence[str]) -> FloatArray:
        """The probability that each caption is broken; each distinct caption is read once."""
        import torch

        distinct = sorted(set(captions), key=lambda text: (len(text), text))
        found: dict[str, float] = {}
        for start in range(0, len(distinct), _BATCH):
            batch = distinct[start : start + _BATCH]
            texts = [_NO_WORD.sub("", caption).lower() for caption in batch]
            inputs = self._tokenizer(
                texts, truncation=True, padding=True, max_length=_LONGEST, return_tensors="pt"
            )
            with torch.inference_mode():
                first = self._model(**inputs).last_hidden_state[:, 0]
                errors = torch.sigmoid(self._classifier(first))[:, -1].tolist()
            found.update(zip(batch, errors, strict=True))
        return np.array([found[caption] for caption in captions], dtype=np.float64)


@lru_cache(maxsize=2)
def load_checkpoint(path: Path) -> CheckpointDetector:
    """Load a checkpoint; its vocabulary lies beside it, or in the local Hugging Face cache."""
    if not path.is_file():
        fetch = "fetch echecker_clotho_audiocaps_base.ckpt from the releases of FENSE"
        own = "use fluent_similarity, which has its own detector."
        raise MetricError(f"There is no checkpoint at {path}: {fetch}, or {own}")
    require_packages(MetricError, "A FENSE checkpoint", "sbert", "torch", "transformers")
    import torch
    from transformers import AutoTokenizer, BertTokenizerFast

    try:
        content = torch.load(path, map_location="cpu", weights_only=True)
        model_type, (model, classifier) = str(content["model_type"]), _build(content["state_dict"])
    except Exception as error:  # a file that is something else can fail in any way
        what = "a FENSE checkpoint, which holds weights of a BERT classifier alone"
        to_do = "fetch it again from the releases of FENSE."
        raise MetricError(f"{path} is not {what}: {to_do}") from error
    try:
        if (path.parent / "vocab.txt").is_file():
            tokenizer = BertTokenizerFast.from_pretrained(path.parent, local_files_only=True)
        else:
            tokenizer = AutoTokenizer.from_pretrained(model_type, local_files_only=True)
    except (OSError, ValueError) as error:
        where = f"is not on this disk: put its vocab.txt beside {path}."
        raise MetricError(f"The vocabulary of {model_type!r} {where}") from error
    digest = sha256(path)
    label = label_of(path.with_suffix(""))
    if digest in _PUBLISHED:
        label = f"echecker_clotho_audiocaps_{_PUBLISHED[digest]}"
    return CheckpointDetector(f"{label}@{digest[:8]}-words", model, classifier, tokenizer)


def _build(state: dict[str, Any]) -> tuple[Any, Any]:
    """Make the network that the weights fit, without asking the hub for its configuration."""
    import torch
    from transformers import BertConfig, BertModel

    own = {key.removeprefix("encoder."): value for key, value in state.items() if key[:4] != "clf."}
    own.pop("embeddings.position_ids", None)
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
    return model.float().eval(), classifier.float().eval()
