"""Options that several commands share, so that they read the same everywhere."""

from pathlib import Path
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
BudgetOption = Annotated[
    float | None,
    typer.Option("--budget", min=0, metavar="USD", help="Stop before this command spends more."),
]
PricesOption = Annotated[
    Path | None,
    typer.Option("--prices", metavar="FILE", help="Prices that replace the built-in table's."),
]
CredentialsOption = Annotated[
    Path | None,
    typer.Option("--credentials", metavar="FILE", help="KEY=value lines, such as API keys."),
]
ConcurrencyOption = Annotated[
    int | None,
    typer.Option(
        "--concurrency", min=1, metavar="N", help="Questions at once. [default: the model's own]"
    ),
]
YesOption = Annotated[bool, typer.Option("--yes", help="Do not ask before spending.")]
JudgeHearsOption = Annotated[
    bool, typer.Option("--judge-hears", help="Give the judge the clip as well.")
]
RepeatsOption = Annotated[
    int, typer.Option("--repeats", min=1, metavar="N", help="Rounds that a model judges.")
]

# Repeated here because importing the store takes longer than printing a help text may.
DEFAULT_STORE = "audiocapbench.db"
