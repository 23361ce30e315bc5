"""Word pieces: sentences as an encoder cuts them, its vector of each, and weighted encoding."""

from collections.abc import Sequence
from itertools import chain
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from audiocapbench.errors import MetricError
from audiocapbench.metrics.batches import IntArray
from audiocapbench.metrics.encoders import Encoder, load
from audiocapbench.metrics.encoders.encoder import Vectors
from audiocapbench.metrics.encoders.static import StaticEncoder
from audiocapbench.metrics.result import FloatArray

_SENTENCES_A_CUT = 4096
_SENTENCES_A_PASS = 64


class Pieces(NamedTuple):
    """Sentences as piece numbers, end to end; sentence i is ids[bounds[i]:bounds[i + 1]]."""

    ids: IntArray  # rows of the encoder's word-embedding matrix
    special: NDArray[
        np.bool_
    ]  # whether it frames a sentence, such as [CLS] and [SEP], and means nothing
    bounds: IntArray

    @property
    def owners(self) -> IntArray:
        """The sentence of each piece."""
        return np.repeat(np.arange(len(self.bounds) - 1), np.diff(self.bounds))

    @property
    def meaningful(self) -> IntArray:
        """How many pieces of each sentence are not special."""
        return np.bincount(self.owners[~self.special], minlength=len(self.bounds) - 1)


@runtime_checkable
class PieceEncoder(Protocol):
    """An encoder that can be taken apart into word pieces."""

    @property
    def name(self) -> str: ...

    def split(self, sentences: Sequence[str]) -> Pieces:
        """Cut sentences into pieces, no longer than the encoder takes them."""

    def vectors(self, ids: IntArray) -> Vectors:
        """Rows of the word-embedding matrix, shape (len(ids), dimensions)."""

    def encode_weighted(self, pieces: Pieces, weights: FloatArray) -> Vectors:
        """Encode with each piece's input vector multiplied by its weight; zeros for no piece."""


def piece_encoder(encoder: str | Encoder | PieceEncoder) -> PieceEncoder:
    """Give access to the word pieces of an encoder, or of one that ``encoders.load`` knows."""
    if isinstance(encoder, PieceEncoder):
        return encoder
    loaded = load(encoder) if isinstance(encoder, str) else encoder
    if isinstance(loaded, StaticEncoder):
        return StaticPieces(loaded)
    from audiocapbench.metrics.encoders.sbert import SentenceTransformerEncoder

    if isinstance(loaded, SentenceTransformerEncoder):
        return SentenceTransformerPieces(loaded)
    raise _no_pieces(loaded.name)


def _no_pieces(name: str) -> MetricError:
    instead = "'caption2vec', 'minilm', 'tinybert' or a sentence-transformers folder"
    return MetricError(
        f"DATE weighs word pieces, and the encoder {name!r} shows none: use {instead}."
    )


class StaticPieces:
    """Pieces of the static encoder: a sentence is the weighted mean of its pieces' vectors."""

    def __init__(self, encoder: StaticEncoder) -> None:
        self.name, self._encoder, self._table = encoder.name, encoder, encoder.table

    def split(self, sentences: Sequence[str]) -> Pieces:
        """Cut sentences into pieces; this tokenizer frames none and shortens none."""
        return _laid_end_to_end(self._encoder.tokens(sentences), special=())

    def vectors(self, ids: IntArray) -> Vectors:
        return self._table[ids]

    def encode_weighted(self, pieces: Pieces, weights: FloatArray) -> Vectors:
        from scipy.sparse import csr_array

        totals = np.bincount(pieces.owners, weights, minlength=len(pieces.bounds) - 1)
        shares = weights / np.where(totals > 0, totals, 1)[pieces.owners]
        shape = (len(pieces.bounds) - 1, len(self._table))
        bags = csr_array((shares.astype(np.float32), pieces.ids, pieces.bounds), shape=shape)
        return np.asarray(bags @ self._table)


class SentenceTransformerPieces:
    """Pieces of a transformer: weights go onto its input word embeddings, the rest is its own."""

    def __init__(self, encoder: Any) -> None:
        self.name: str = encoder.name
        self._model: Any = encoder.model
        self._computing: Any = encoder.computing
        self._tokenizer: Any = self._model.tokenizer
        transformer = getattr(self._model[0], "auto_model", None)
        if transformer is None or self._tokenizer is None:
            raise _no_pieces(self.name)
        self._words: Any = transformer.get_input_embeddings()

    def split(self, sentences: Sequence[str]) -> Pieces:
        tokenizer = self._tokenizer
        ids: list[list[int]] = []
        how = {"truncation": True, "max_length": self._model.max_seq_length}
        how |= {"return_attention_mask": False, "return_token_type_ids": False}
        for start in range(0, len(sentences), _SENTENCES_A_CUT):
            ids += tokenizer(list(sentences[start : start + _SENTENCES_A_CUT]), **how)["input_ids"]
        frame = ("cls_token_id", "sep_token_id", "bos_token_id", "eos_token_id", "pad_token_id")
        special = {getattr(tokenizer, field) for field in frame} - {None}
        return _laid_end_to_end(ids, special=sorted(special))

    def vectors(self, ids: IntArray) -> Vectors:
        import torch

        rows = torch.from_numpy(ids).to(self._words.weight.device)
        return np.asarray(self._words.weight.detach()[rows].float().cpu())

    def encode_weighted(self, pieces: Pieces, weights: FloatArray) -> Vectors:
        """Encode with weighted input embeddings, sentences of like length together."""
        import torch

        chosen, lengths = np.flatnonzero(pieces.meaningful), np.diff(pieces.bounds)
        order = chosen[np.argsort(lengths[chosen], kind="stable")]
        shape = (len(lengths), self._model.get_embedding_dimension())
        vectors = np.zeros(shape, dtype=np.float32)
        device = self._model.device
        self._model.eval()
        with self._computing():
            for start in range(0, len(order), _SENTENCES_A_PASS):
                rows = order[start : start + _SENTENCES_A_PASS]
                within = np.arange(lengths[rows].max())
                inside = within < lengths[rows, np.newaxis]
                places = (pieces.bounds[rows, np.newaxis] + within)[inside]
                ids = np.full(inside.shape, self._tokenizer.pad_token_id or 0, dtype=np.int64)
                ids[inside] = pieces.ids[places]
                factors = np.ones(inside.shape, dtype=np.float32)
                factors[inside] = weights[places]
                features = {
                    "input_ids": torch.from_numpy(ids).to(device),
                    "attention_mask": torch.from_numpy(inside.astype(np.int64)).to(device),
                }
                scale = torch.from_numpy(factors).to(device).unsqueeze(-1)
                # What the embedding module puts out is multiplied; the model still sees ids, so
                # positions hold. Leaving the block removes the hook.
                with self._words.register_forward_hook(lambda *call, by=scale: call[-1] * by):
                    encoded = self._model(features)["sentence_embedding"]
                vectors[rows] = encoded.float().cpu().numpy()
        return vectors


def _laid_end_to_end(sentences: list[list[int]], special: Sequence[int]) -> Pieces:
    bounds = np.cumsum([0, *map(len, sentences)], dtype=np.int64)
    ids = np.fromiter(chain.from_iterable(sentences), np.int64, count=bounds[-1])
    return Pieces(ids, np.isin(ids, special), bounds)
