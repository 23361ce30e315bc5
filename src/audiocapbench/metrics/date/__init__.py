"""DATE, MECAT's discriminative metric, block-wise and with any encoder that shows its pieces."""

from audiocapbench.metrics.date.metric import (
    DateParts,
    date,
    date_and_parts,
    date_parts,
    finish_date,
)
from audiocapbench.metrics.date.pieces import PieceEncoder, piece_encoder

__all__ = [
    "DateParts",
    "PieceEncoder",
    "date",
    "date_and_parts",
    "date_parts",
    "finish_date",
    "piece_encoder",
]
