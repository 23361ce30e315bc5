"""Options that several commands share, so that they read the same everywhere."""

from typing import Annotated

import typer

StoreOption = Annotated[
    str,
    typer.Option(
        "--store",
        metavar="URL",
        envvar="AUDIOCAPBENCH_STORE",
        help="SQLite file or postgresql+psycopg:// URL that keeps runs and answers.",
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document instead.")]

# Repeated here because importing the store takes longer than printing a help text may.
DEFAULT_STORE = "audiocapbench.db"
