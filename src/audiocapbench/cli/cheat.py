"""``audiocapbench meta cheat``: what captions that were made to score gain over honest ones."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Option

from audiocapbench.asking import RequestOptions
from audiocapbench.cli import options
from audiocapbench.cli.app import code_of
from audiocapbench.cli.console import print_errors, print_json, say, show, show_lines
from audiocapbench.cli.meta import ask_scorers, meta_app
from audiocapbench.table import Column, Table, ValueWithInterval, signature_notes

if TYPE_CHECKING:
    from audiocapbench.meta.cheat import CheatTrial


@options.command(meta_app.command)
def cheat(
    *,
    captions: Path,
    scorer: list[str],
    predictions: Path | None = None,
    limit: Annotated[int, Option(min=2)] = 200,
    data: Path | None = None,
    seed: int = 42,
    asking: RequestOptions,
    session: options.Session,
    json: options.Json = False,
) -> None:
    """Attack a scorer with captions that say nothing new, and see whether they gain.

    The honest caption of a clip is one of its references, held to the others, or --predictions.

    Args:
        captions (FILE): What people wrote, as for 'corrupt': two captions a clip or more.
        scorer (KIND:NAME): metric:NAME, judge:NAME or clap:NAME; may be repeated.
        predictions (FILE): Honest captions by a model, id,prediction.
        limit (N): At most so many clips, drawn by the seed.
        data (DIR): Folder with the clips, for who hears them.
        seed (S): The same seed makes the same attacks.
    """
    from audiocapbench.cli.progress import explain_spending
    from audiocapbench.data.predictions import read_predictions
    from audiocapbench.engine import Asking
    from audiocapbench.errors import TrialStoppedError
    from audiocapbench.meta.cheat import attack_pairs, honest_captions, pointwise
    from audiocapbench.meta.cheat import cheat as attack
    from audiocapbench.meta.corrupt.captions import read_captions
    from audiocapbench.meta.scorers.scorer import TrialSettings

    clips = read_captions(captions).clips
    given = None if predictions is None else read_predictions(predictions).texts
    pairs = attack_pairs(honest_captions(clips, given, limit=limit, seed=seed), seed)
    how = vars(Asking.of(asking))
    settings = TrialSettings(data=data, store_url=session.store, seed=seed, **how)
    trials: list[CheatTrial] = []
    wanted = [(name, settings) for name in dict.fromkeys(scorer)]

    try:
        ask_scorers(
            wanted,
            pairs,
            lambda scorers: trials.extend(attack(one, pairs) for one in scorers),
            pointwise,
            yes=session.yes,
        )
    except TrialStoppedError as error:
        print_errors(error)
        raise typer.Exit(code_of(error.stop)) from None
    finally:
        explain_spending(settings.budget)
        if json and trials:
            documents = [trial.document() for trial in trials]
            print_json({"n": len({pair.clip for pair in pairs}), "scorers": documents})
        elif trials:
            _print(trials)
    for trial in trials:
        say(*(f"{trial.scorer}: {note}" for note in trial.notes))
        say(*(f"Warning: {warning}." for warning in trial.warnings))


def _print(trials: "Sequence[CheatTrial]") -> None:
    from audiocapbench.meta.cheat import ATTACKS

    columns = (
        "attack",
        Column("mean", "score", ".3f"),
        Column("gain", form="+.3f"),
        Column("wins", "wins %", ".0f"),
        Column("clips", align="right"),
    )
    for trial in trials:
        rows = [
            {
                "attack": f"{one.attack}{' (cheats)' * one.succeeds}",
                "mean": one.mean,
                "gain": ValueWithInterval(one.gain, one.interval),
                "wins": one.wins,
                "clips": f"{one.n:,}" + f" of {one.total:,}" * (one.n < one.total),
            }
            for one in trial.figures
        ]
        title = f"{trial.scorer}: gain over the honest caption, which has {trial.honest:.3f}"
        show(Table(title, rows, columns))
    show_lines(*(f"{name}: {words}" for name, words in ATTACKS.items()))
    show_lines(*signature_notes(trial.signature for trial in trials))
