"""Real corpora and NLTK's WordNet for the parity tests of the metrics."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from caption_corpora import CaptionCorpus
from coco_oracle import clotho

if TYPE_CHECKING:
    from nltk.corpus import WordNetCorpusReader


@pytest.fixture(scope="session")
def dcase_baseline(shared: Path) -> CaptionCorpus:
    """The DCASE 2023 baseline's captions for the Clotho evaluation clips."""
    return CaptionCorpus(*clotho(shared)[:2])


@pytest.fixture(scope="session")
def panns_baseline(shared: Path) -> CaptionCorpus:
    """The PANNs system's captions for the Clotho evaluation clips."""
    return CaptionCorpus(*clotho(shared, "panns")[:2])


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
