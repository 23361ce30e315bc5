"""Real corpora and NLTK's WordNet for the parity tests of the metrics."""

import csv
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

if TYPE_CHECKING:
    from nltk.corpus import WordNetCorpusReader


class CaptionCorpus(NamedTuple):
    """Predictions of one system with the references of each."""

    predictions: list[str]
    references: list[list[str]]


def _rows(path: Path, delimiter: str = ",") -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter=delimiter))


def _clotho_with(shared: Path, system: str) -> CaptionCorpus:
    references: dict[str, list[str]] = {}
    for row in _rows(shared / "clotho" / "evaluation_captions.csv"):
        references.setdefault(row["fname"], []).append(row["raw_text"])
    file = shared / "aces" / f"{system}-evaluation-preds.csv"
    predictions = {row["file_name"]: row["caption_predicted"] for row in _rows(file, "\t")}
    return CaptionCorpus([predictions[name] for name in references], list(references.values()))


@pytest.fixture(scope="session")
def dcase_baseline(shared: Path) -> CaptionCorpus:
    """The DCASE 2023 baseline's captions for the Clotho evaluation clips."""
    return _clotho_with(shared, "2023-baseline")


@pytest.fixture(scope="session")
def panns_baseline(shared: Path) -> CaptionCorpus:
    """The PANNs system's captions for the Clotho evaluation clips."""
    return _clotho_with(shared, "panns")


@pytest.fixture(scope="session")
def nltk_wordnet(
    shared: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator["WordNetCorpusReader"]:
    """NLTK's own reader on WordNet 3.0."""
    import nltk
    from nltk.corpus import wordnet

    data = tmp_path_factory.mktemp("nltk_data")
    shutil.copytree(shared / "wordnet-3.0", data / "corpora" / "wordnet")
    # NLTK opens this index of sense keys for other languages, of which METEOR needs none.
    (data / "corpora" / "wordnet" / "index.sense").touch()
    nltk.data.path.insert(0, str(data))
    wordnet.ensure_loaded()
    yield wordnet
    nltk.data.path.remove(str(data))
