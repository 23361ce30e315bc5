"""Real corpora, and pycocoevalcap's numbers on them, for the tests of the COCO family."""

import ast
import csv
import sys
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from needs import needs, needs_program


class Corpus(NamedTuple):
    """Predictions, references, and what was published with them."""

    predictions: list[str]
    references: list[list[str]]
    rows: list[dict[str, str]]

    def published(self, name: str) -> list[float]:
        """Read the published score of each sample."""
        return [float(row[f"best_fense.cands.{name}"]) for row in self.rows]


def clotho(shared: Path, system: str = "2023-baseline") -> Corpus:
    """A system's captions for the Clotho evaluation clips."""
    references: dict[str, list[str]] = {}
    for row in _rows(shared / "clotho" / "evaluation_captions.csv", ","):
        references.setdefault(row["fname"], []).append(row["raw_text"])
    rows = _rows(shared / "aces" / f"{system}-evaluation-preds.csv", "\t")
    rows = [row for row in rows if row["file_name"] in references]
    predictions = [row["caption_predicted"] for row in rows]
    return Corpus(predictions, [references[row["file_name"]] for row in rows], rows)


def conette(shared: Path) -> Corpus:
    rows = _rows(shared / "conette" / "outputs_audiocaps_test.csv", ",")
    references = [ast.literal_eval(row["mrefs"]) for row in rows]
    return Corpus([row["cands"] for row in rows], references, rows)


def tokenised(corpus: Corpus) -> tuple[dict[int, list[str]], dict[int, list[str]]]:
    """Tokenise references and predictions with the original tokenizer, once for all tests."""
    return _tokens(tuple(map(tuple, corpus.references)), tuple(corpus.predictions))


@cache
def _tokens(
    references: tuple[tuple[str, ...], ...], predictions: tuple[str, ...]
) -> tuple[dict[int, list[str]], dict[int, list[str]]]:
    module = needs("pycocoevalcap.tokenizer.ptbtokenizer")
    needs_program("java")
    # Java begins once for both.
    texts = dict(enumerate([*references, *((text,) for text in predictions)]))
    captions = {index: [{"caption": text} for text in own] for index, own in texts.items()}
    tokenizer: Any = module.PTBTokenizer()
    tokens = list(tokenizer.tokenize(captions).values())
    assert len(tokens) == len(texts)
    first = len(references)
    return dict(enumerate(tokens[:first])), dict(enumerate(tokens[first:]))


def _rows(path: Path, delimiter: str) -> list[dict[str, str]]:
    csv.field_size_limit(sys.maxsize)
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter=delimiter))
