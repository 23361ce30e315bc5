"""What ``leaderboard`` and ``compare`` share: how they correct, and how their tables fit."""

from enum import StrEnum
from typing import Annotated

import typer

from audiocapbench.report.exports import Format, Page, fitted


class CorrectionName(StrEnum):
    """As in ``audiocapbench.stats.multiple``, which takes longer to import than a help text may."""

    HOLM = "holm"
    BH = "bh"


CorrectionOption = Annotated[
    CorrectionName,
    typer.Option(
        "--correction",
        help="Keep the chance of one false difference below 5 % (holm), or their share (bh).",
    ),
]


def fit(page: Page, form: Format) -> Page:
    """The page in the terminal's width; files and programs get it whole."""
    from audiocapbench.cli.console import stdout

    return fitted(page, stdout().width) if form is Format.TABLE else page
