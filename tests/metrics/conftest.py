"""Real corpora and NLTK's WordNet for the parity tests of the metrics."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

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
    from nltk.corpus.reader.wordnet import WordNetCorpusReader

    data = tmp_path_factory.mktemp("nltk_data")
    corpus = data / "corpora" / "wordnet"
    corpus.mkdir(parents=True)
    for file in (shared / "wordnet-3.0").iterdir():
        (corpus / file.name).symlink_to(file.resolve())
    # NLTK opens this index of sense keys for other languages, of which METEOR needs none.
    if not (corpus / "index.sense").exists():
        (corpus / "index.sense").touch()

    def opened(_: "WordNetCorpusReader", name: str) -> TextIO:
        return (corpus / name).open(encoding="utf-8")

    with pytest.MonkeyPatch.context() as patch:
        # The same lines at the same places, but not decoded by NLTK in Python.
        patch.setattr(WordNetCorpusReader, "open", opened)
        patch.setattr(nltk.data, "path", [str(data), *nltk.data.path])
        wordnet.ensure_loaded()
        yield wordnet
