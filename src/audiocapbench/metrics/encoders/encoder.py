"""What a sentence encoder promises, and what all share: their texts, and how weights are found."""

import hashlib
import importlib
import importlib.util
import io
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from audiocapbench.errors import MetricError
from audiocapbench.metrics.result import check_texts
from audiocapbench.metrics.spreading import spread

Vectors = NDArray[np.float32]

_NOT_TORCH = ["onnx/*", "openvino/*", "*.onnx", "*.h5", "*.ot", "*.msgpack"]

BLOCK = 8192
"""Sentences that a costly encoder gets at once."""


class Encoder(Protocol):
    """Turns sentences into vectors of unit length."""

    @property
    def name(self) -> str:
        """Name and fingerprint of the weights, as signatures show it: ``minilm@53aa5117``."""
        ...

    def encode(self, sentences: Sequence[str]) -> Vectors:
        """Encode sentences, shape (n, dimensions).

        A row has unit length, except that a blank sentence is the zero vector: it is like nothing,
        so its cosine with anything is 0. White space around a sentence has no meaning.
        """
        ...


def encode_distinct(
    sentences: Sequence[str],
    dimensions: int,
    encode: Callable[[list[str]], Vectors],
    at_once: int | None = None,
) -> Vectors:
    """Encode each stripped, non-blank sentence once, from the shortest on, so many at once."""
    check_texts(sentences, "An encoder")
    texts = [readable(sentence) for sentence in sentences]
    distinct = sorted({text for text in texts if text}, key=lambda text: (len(text), text))
    vectors = np.zeros((len(distinct) + 1, dimensions), dtype=np.float32)
    if distinct:
        size = at_once or len(distinct)
        blocks = [distinct[start : start + size] for start in range(0, len(distinct), size)]
        encoded = np.concatenate(list(spread(encode, blocks)))
        lengths = np.linalg.norm(encoded.astype(np.float64), axis=1, keepdims=True)
        vectors[:-1] = np.divide(encoded, np.where(lengths > 0, lengths, 1))
    place = {text: row for row, text in enumerate(distinct)}
    return vectors[[place.get(text, -1) for text in texts]]


def fingerprint(contents: Iterable[Path | bytes]) -> str:
    """Eight hexadecimal digits that stand for the contents of files, in the order given."""
    digest = hashlib.sha256()
    for content in contents:
        with io.BytesIO(content) if isinstance(content, bytes) else content.open("rb") as stream:
            digest.update(hashlib.file_digest(stream, "sha256").digest())
    return digest.hexdigest()[:8]


def readable(sentence: str) -> str:
    """Strip a sentence; JSON may hold halves of surrogate pairs, which no tokenizer takes."""
    if not sentence.isascii():
        sentence = sentence.encode("utf-8", "replace").decode("utf-8")
    return sentence.strip()


def require(what: str, extra: str, *packages: str) -> None:
    """Refuse to go on where a package is not installed."""
    for package in packages:
        if importlib.util.find_spec(package) is None:
            name = package.replace("_", "-")
            raise MetricError(f"{what} needs {name}: pip install 'audiocapbench[{extra}]'.")


def snapshot(repository: str, *, download: bool) -> Path | None:
    """The folder of a repository's files; None where it is not on disk and may not be fetched."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError

    try:
        return Path(snapshot_download(repository, local_files_only=True))
    except HFValidationError:
        raise MetricError(f"{repository!r} is not a name on the Hugging Face hub") from None
    except LocalEntryNotFoundError:
        if not download:
            return None
    try:
        return Path(snapshot_download(repository, ignore_patterns=_NOT_TORCH))
    except (HfHubHTTPError, LocalEntryNotFoundError, OSError) as error:
        raise MetricError(
            f"{repository} could not be downloaded: check the network and HF_ENDPOINT, or name a "
            "folder that holds it."
        ) from error


def label_of(folder: str | Path) -> str:
    """What signatures call a model that lies in a folder."""
    return re.sub(r"[^\w.-]+", "_", Path(folder).absolute().name)


@contextmanager
def loading(what: str, folder: Path) -> Iterator[None]:
    """Load weights without a progress bar; a damaged folder can fail in any way."""
    logging: Any = importlib.import_module("transformers.utils.logging")
    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    except MetricError:
        raise
    except Exception as error:
        reason = str(error).strip().partition("\n")[0]
        raise MetricError(
            f"the {what} in {folder} cannot be loaded ({reason}): fetch the folder again"
        ) from error
    finally:
        if shown:
            logging.enable_progress_bar()
