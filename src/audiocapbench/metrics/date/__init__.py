"""DATE, MECAT's discriminative metric, block-wise and with any encoder that shows its pieces."""

from audiocapbench.metrics.date.metric import (
    aggregate_date,
    date,
    date_and_parts,
    date_parts,
    prepare_date,
)
from audiocapbench.metrics.date.pieces import PieceEncoder, piece_encoder

__all__ = [
    "PieceEncoder",
    "aggregate_date",
    "date",
    "date_and_parts",
    "date_parts",
    "piece_encoder",
    "prepare_date",
]
