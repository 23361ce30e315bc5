"""``audiocapbench corrupt``: new trials from any caption set, and proof that they give no hint."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from audiocapbench.cli.app import app
from audiocapbench.cli.options import (
    DEFAULT_STORE,
    BudgetOption,
    ConcurrencyOption,
    CredentialsOption,
    JsonOption,
    PricesOption,
    StoreOption,
)
from audiocapbench.cli.outputs import refuse_overwriting, store_file
from audiocapbench.errors import AudioCapBenchError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from audiocapbench.meta.corrupt.captions import CaptionSet
    from audiocapbench.meta.corrupt.checks import Check, ControlAccuracy
    from audiocapbench.meta.corrupt.corruption import Corruption
    from audiocapbench.meta.corrupt.make import CorruptionResult

_KINDS = {
    "noun": "one thing for another",
    "order": "events in another order",
    "attribute": "another quality or relation",
    "added": "an event that is not there",
    "dropped": "the main event left out: less complete, not false",
    "count": "another number",
}
_ALL_KINDS = ",".join(_KINDS)


@app.command("corrupt")
def corrupt(
    captions: Annotated[
        Path,
        typer.Argument(
            help="CSV with id,reference, a row a reference; JSONL with id and references; or a "
            "dataset folder."
        ),
    ],
    out: Annotated[
        Path,
        typer.Option(
            "--out", metavar="FILE", help="Pairs as .csv, or .json in BRACE-Hallucination's form."
        ),
    ],
    kinds: Annotated[
        str,
        typer.Option(
            "--kinds",
            metavar="A,B",
            help=f"What to change. {'; '.join(f'{name}: {one}' for name, one in _KINDS.items())}.",
        ),
    ] = _ALL_KINDS,
    per_kind: Annotated[
        int | None,
        typer.Option("--per-kind", min=2, metavar="N", help="Most pairs of a kind."),
    ] = None,
    seed: Annotated[
        int, typer.Option("--seed", metavar="S", help="The same seed makes the same pairs.")
    ] = 42,
    check: Annotated[
        bool,
        typer.Option("--check", help="Also train a classifier on the words of half of the pairs."),
    ] = False,
    model: Annotated[
        str | None,
        typer.Option("--model", metavar="MODEL", help="Ask a language model, not the rules."),
    ] = None,
    budget: BudgetOption = None,
    prices: PricesOption = None,
    concurrency: ConcurrencyOption = None,
    credentials: CredentialsOption = None,
    store: StoreOption = DEFAULT_STORE,
    json: JsonOption = False,
) -> None:
    """Make pairs of a true caption and one that was made wrong, or less complete.

    'audiocapbench meta csv' then shows which scorers can tell them apart.
    """
    from audiocapbench.cli.console import print_json, say
    from audiocapbench.cli.trial_bars import TrialBars
    from audiocapbench.credentials import load_credentials
    from audiocapbench.data.folder import METADATA, SEED_METADATA
    from audiocapbench.data.manifest import FILE_NAME as MANIFEST
    from audiocapbench.engine import Budget, RateLimits
    from audiocapbench.meta.corrupt.by_model import make_by_model
    from audiocapbench.meta.corrupt.captions import read_captions
    from audiocapbench.meta.corrupt.checks import (
        check_controls,
        check_trained,
        trained_warnings,
        warnings,
    )
    from audiocapbench.meta.corrupt.make import check_path, make_pairs, write_pairs
    from audiocapbench.meta.settings import TrialSettings
    from audiocapbench.models import create_model

    check_path(out)
    listed = (captions / name for name in (METADATA, SEED_METADATA, MANIFEST))
    given = (captions, *listed, prices, credentials, store_file(store))
    refuse_overwriting(out, [path for path in given if path is not None])
    wanted = _kinds(kinds)
    found = read_captions(captions)
    name = captions.resolve().stem
    options: dict[str, Any] = {"per_kind": per_kind, "seed": seed, "dataset": name}
    if model is None:
        made = make_pairs(found, wanted, **options)
    else:
        for warning in load_credentials(credentials) if credentials else ():
            say(warning)
        with TrialBars() as bars:
            settings = TrialSettings(
                store_url=store,
                budget=Budget(budget),
                prices=prices,
                rate_limits=RateLimits(concurrency),
                progress=bars.advance,
            )
            made = make_by_model(found, create_model(model), settings, wanted, **options)
    total = sum(len(one.pairs) for one in made)
    if not total:
        raise AudioCapBenchError(
            f"{captions}: no pair could be made of its {found.total:,} captions; "
            "the rules need English captions of sounds, and several of them"
        )
    write_pairs(out, made)
    controls = check_controls(made, seed)
    trained = check_trained(made, seed) if check else {}
    if json:
        print_json(_document(out, found, made, controls, trained))
    else:
        _print(made, controls, trained)
        say(f"{total:,} pairs written to {out}.")
    for line in [*warnings(controls), *trained_warnings(trained)]:
        say(f"Warning: {line}.")


def _kinds(text: str) -> "list[Corruption]":
    from audiocapbench.meta.corrupt.corruption import Corruption

    names = [name.strip() for name in text.split(",") if name.strip()]
    known = [str(kind) for kind in Corruption]
    for name in names:
        if name not in known:
            raise AudioCapBenchError(f"there is no kind {name!r}; there are {', '.join(known)}")
    if not names:
        raise AudioCapBenchError(f"--kinds names none; there are {', '.join(known)}")
    return [Corruption(name) for name in dict.fromkeys(names)]


def _document(
    out: Path,
    captions: "CaptionSet",
    made: "list[CorruptionResult]",
    controls: "Check",
    trained: "Mapping[str, ControlAccuracy]",
) -> dict[str, Any]:
    return {
        "pairs": str(out),
        "captions": captions.total,
        "n": sum(len(one.pairs) for one in made),
        "kinds": {
            str(one.kind): {
                "other_caption": one.kind.other_caption,
                "made": len(one.pairs),
                "not_applicable": one.not_applicable,
                "left_out": one.left_out,
                "rejected": dict(one.rejected),
            }
            for one in made
        },
        "controls": {
            group: {
                name: _accuracy(one) | {"ties": one.ties, "within_5_points": one.is_level}
                for name, one in figures.items()
            }
            for group, figures in controls.items()
        },
        "trained": {group: _accuracy(figure) for group, figure in trained.items()},
    }


def _accuracy(figure: "ControlAccuracy") -> dict[str, Any]:
    ends = list(figure.interval) if figure.interval else None
    return {"accuracy": figure.accuracy, "ci": ends}


def _print(
    made: "list[CorruptionResult]", controls: "Check", trained: "Mapping[str, ControlAccuracy]"
) -> None:
    from rich import box
    from rich.table import Table

    from audiocapbench.cli.console import say, show
    from audiocapbench.meta.corrupt.corruption import LESS_COMPLETE

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    names = list(next(iter(controls.values())))
    columns = ["kind", "made", "not applicable", "left out", *names]
    for name in [*columns, "trained"] if trained else columns:
        table.add_column(name, justify="left" if name == "kind" else "right")
    rows = {str(one.kind): one for one in made}
    for group in [*rows, "all"]:
        one = rows.get(group)
        numbers = [len(one.pairs), one.not_applicable, one.left_out] if one else ["", "", ""]
        counts = [str(number) for number in numbers]
        figures = controls.get(group, {})
        cells = [_shown(figures.get(name)) for name in names]
        last = [_shown(trained.get(group))] if trained else []
        # The mark stands where the figures do, because it says what they mean.
        less = one is not None and one.kind.other_caption == LESS_COMPLETE
        table.add_row(f"{group} ({LESS_COMPLETE})" if less else group, *counts, *cells, *last)
    show(table)
    say("Accuracy of scorers that never hear the clip, in percent; 50 is chance, a tie half.")
    for one in made:
        for reason, count in sorted(one.rejected.items()):
            say(f"{one.kind}: {count} refused: {reason}")


def _shown(figure: "ControlAccuracy | None") -> str:
    if figure is None:
        return "–"
    spread = f" ±{(figure.interval.high - figure.interval.low) / 2:.1f}" if figure.interval else ""
    return f"{figure.accuracy:.1f}{spread}"
