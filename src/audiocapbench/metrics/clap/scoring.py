"""CLAP: how well captions fit the sound of their clips, as scores and as a metric of runs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from audiocapbench.data import Clip
from audiocapbench.errors import AudioError, MetricError, check_known
from audiocapbench.metrics.clap.embedding import Embedder
from audiocapbench.metrics.clap.encoder import AudioTextEncoder, identity, load_encoder
from audiocapbench.metrics.clap.windows import Cutting
from audiocapbench.metrics.encoders.encoder import Vectors
from audiocapbench.metrics.fluency import fense
from audiocapbench.metrics.names import parse_name
from audiocapbench.metrics.parallel import WATCHER, Progress, read_ahead
from audiocapbench.metrics.result import FloatArray, MetricResult, check_captions
from audiocapbench.signature import Signature, sign

if TYPE_CHECKING:
    from audiocapbench.store import Store

DEFAULT_SEEDS = range(10)
_AAC_METRICS, _MACE = {"encoder": "ms-clap-2023"}, {"threshold": 0.97, "penalty": 0.3}


class SeedSpread(NamedTuple):
    """How a number varies over seeds; ``sd`` is the sample standard deviation."""

    mean: float
    sd: float
    minimum: float
    maximum: float

    @classmethod
    def of(cls, values: Sequence[float] | FloatArray) -> "SeedSpread":
        """The spread of at least one value; a single one has none."""
        own = np.asarray(values, dtype=np.float64)
        sd = float(own.std(ddof=1)) if len(own) > 1 else 0.0
        return cls(float(own.mean()), sd, float(own.min()), float(own.max()))


@dataclass(frozen=True, slots=True)
class ClapScores:
    """Scores of captions, between 0 and 1."""

    signature: Signature
    heard: tuple[int, ...]  # captions whose clip could be read, in order
    by_seed: FloatArray  # of shape (seeds, captions heard); sliding windows need one row only
    missing: Mapping[Path, str]  # why a clip could not be read

    @property
    def result(self) -> MetricResult:
        """Mean over seeds of each caption that was heard, ready for intervals."""
        return MetricResult.of_means("clap", self.signature, self.by_seed.mean(axis=0))


def clap_scores(
    clips: Sequence[str | Path],
    captions: Sequence[str],
    encoder: str | AudioTextEncoder = "laion",
    *,
    references: Sequence[Sequence[str]] | None = None,
    cutting: Cutting | None = None,
    device: str = "auto",
    batch: int | None = None,
    store: "Store | None" = None,
    floor: float = 0.0,
    progress: Progress = lambda _done, _total: None,
) -> ClapScores:
    """Score captions by the cosine between their embedding and their clip's, at least ``floor``.

    A clip is encoded once, however many captions it has. A blank caption scores 0. With references,
    the score is the mean of that cosine and the highest with one of them, at least 0. The encoder
    may be a name with options, ``laion[path=FOLDER]``; clips are cut to its own sliding windows
    unless ``cutting`` says otherwise. A ``batch`` of so many windows, by default what the device
    has room for, changes scores by less than 1e-5. MetricError where lengths differ, a caption has
    no reference, or the encoder cannot be had.
    """
    if isinstance(captions, str) or len(clips) != len(captions):
        raise MetricError(
            f"there are {len(clips)} clips and {len(captions)} captions: give each caption its clip"
        )
    if references is not None:
        check_captions(captions, references, words_needed=True)
    if isinstance(encoder, str):
        name = parse_name(encoder, "an encoder")
        encoder = load_encoder(name.name, name.options, device)
    cutting = cutting or Cutting(encoder.windows)
    embedder = Embedder(encoder, cutting, store=store, batch=batch, progress=progress)
    paths = [Path(clip) for clip in clips]
    vectors, missing = embedder.clips(paths)
    heard = tuple(row for row, path in enumerate(paths) if path in vectors)
    signature = sign_clap(encoder, cutting, references=references is not None)
    if not heard:
        return ClapScores(signature, heard, np.zeros((len(cutting.settings), 0)), missing)
    texts = embedder.encode([captions[row] for row in heard])
    sounds = np.stack([vectors[paths[row]] for row in heard], axis=1)
    scores = np.stack([_cosines(sound, texts, floor) for sound in sounds])
    if references is not None:
        counts = [len(references[row]) for row in heard]
        reference_texts = embedder.encode([text for row in heard for text in references[row]])
        cosines = _cosines(np.repeat(texts, counts, axis=0), reference_texts, floor)
        scores = (scores + np.maximum.reduceat(cosines, np.cumsum([0, *counts[:-1]]))) / 2
    return ClapScores(signature, heard, scores, missing)


def sign_clap(encoder: AudioTextEncoder, cutting: Cutting, *, references: bool) -> Signature:
    refs = "half-best" if references else "none"
    model = identity(encoder)
    return sign("clap", protocol=1, model=model, **cutting.fields, mix="mean", floor=0, refs=refs)


def choose_cutting(
    encoder: AudioTextEncoder,
    windows: str = "slide",
    *,
    seeds: range = DEFAULT_SEEDS,
    window_s: float | None = None,
    hop_s: float | None = None,
) -> Cutting:
    """``slide`` or ``crop`` for an encoder, with windows of one's own where given."""
    own = encoder.windows
    if windows == "slide":
        window = own.window_s if window_s is None else window_s
        hop = own.hop_s if hop_s is None else hop_s
        return Cutting(replace(own, window_s=window, hop_s=hop))
    if windows != "crop":
        raise MetricError(f"windows={windows}: choose slide or crop")
    if window_s is not None or hop_s is not None:
        raise MetricError("a random crop is as long as the model's input: leave window and hop out")
    if not seeds:
        raise MetricError("plain CLAP needs at least one seed")
    return Cutting(own, seeds)


def _cosines(left: Vectors, right: Vectors, floor: float) -> FloatArray:
    """Cosine of each row with its partner, at least ``floor``; the zero vector is like nothing."""

    def products(one: Vectors, other: Vectors) -> FloatArray:
        found: FloatArray = np.einsum("ij,ij->i", one, other, dtype=np.float64)
        return found

    lengths = np.sqrt(products(left, left)) * np.sqrt(products(right, right))
    return np.clip(products(left, right) / np.where(lengths > 0, lengths, 1), floor, 1)


def clap(
    predictions: Sequence[str],
    references: Sequence[Sequence[str]],
    *,
    clips: Sequence[Clip],
    store: "Store | None" = None,
    floor: float = 0.0,
    **options: str,
) -> MetricResult:
    """Cosine of each caption with its clip, from 0 to 1; references are not read."""
    encoder, cutting = prepare_clap(**options)
    how: dict[str, Any] = {"cutting": cutting, "store": store, "floor": floor}
    found = clap_scores(_paths(clips), predictions, encoder, **how, progress=WATCHER.get())
    _refuse({path.name: why for path, why in found.missing.items()}, len(clips))
    return found.result


def clap_sim(
    predictions: Sequence[str], references: Sequence[Sequence[str]], method: str = "text", **at: Any
) -> MetricResult:
    """Mean cosine of a caption with its references by CLAP, with its clip, or the mean of both."""
    heard = {key: at.pop(key, None) for key in ("clips", "store")}
    encoder, cutting = prepare_clap_sim(method, **at)
    found, signature = [], sign("clap_sim", model=identity(encoder), method=method)
    if method != "audio":
        texts = Embedder(encoder, cutting, store=heard["store"])
        found.append(fense.mean_cosines(predictions, references, texts))
    if method != "text":
        at = _AAC_METRICS | at | heard
        found.append(clap(predictions, references, floor=-1.0, **at).samples)
        signature = signature.with_fields(**cutting.fields)
    return MetricResult.of_means("clap_sim", signature, np.mean(found, axis=0))


def mace(
    predictions: Sequence[str],
    references: Sequence[Sequence[str]],
    detector: fense.Detector = "",
    **at: Any,
) -> MetricResult:
    """MACE (2024): of ``clap_sim`` a caption keeps 0.7 where an error is surer than 0.97."""
    name, errors = fense.detect(predictions, fense.open_detector(detector, "mace"))
    found = clap_sim(predictions, references, **at)
    signature = replace(found.signature, name="mace").with_fields(detector=name, **_MACE)
    return MetricResult.of_means("mace", signature, fense.penalise(found.samples, errors, **_MACE))


def prepare_clap_sim(method: str = "text", **options: str) -> tuple[AudioTextEncoder, Cutting]:
    check_known("method of clap_sim", method, ("text", "audio", "combined"), MetricError)
    return prepare_clap(**_AAC_METRICS | options)


def prepare_mace(detector: str = "", **options: str) -> None:
    fense.open_detector(detector, "mace")
    prepare_clap_sim(**options)


def clip_vectors(clips: Sequence[Clip], **options: str) -> Vectors:
    """The embedding of each clip; options and errors are those of ``clap``."""
    paths = _paths(clips)
    vectors, missing = Embedder(*prepare_clap(**options)).clips(paths)
    _refuse({path.name: why for path, why in missing.items()}, len(clips))
    return np.stack([vectors[path].mean(axis=0) for path in paths])


@lru_cache(maxsize=1)
def prepare_clap(
    encoder: str = "laion", device: str = "auto", windows: str = "slide", **options: str
) -> tuple[AudioTextEncoder, Cutting]:
    loaded = load_encoder(encoder, options, device)
    return loaded, choose_cutting(loaded, windows)


def _paths(clips: Sequence[Clip]) -> list[Path]:
    """The files of clips, all of which can be heard as they were when the model was asked."""

    def problem(clip: Clip) -> str | None:
        if clip.is_absent:
            return "only its references were given, no audio"
        try:
            clip.check()
        except AudioError as error:
            return str(error)
        return None

    found = read_ahead(problem, dict.fromkeys(clips))
    _refuse({clip.file_name: why for clip, why in found if why}, len(clips))
    return [clip.path for clip in clips]


def _refuse(missing: dict[str, str], count: int) -> None:
    for name, why in missing.items():
        lack = f"{len(missing):,} of {count:,} are not there: {name}: {why}"
        to_do = "Put the clips back where the run found them, or leave clap out."
        raise MetricError(f"clap hears the clips, and {lack}. {to_do}")
