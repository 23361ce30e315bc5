"""Nothing is spent unseen: the rule of every command that may ask a paid model.

What it will ask and likely cost is shown, and someone agrees: at the terminal, or with ``--yes``.
"""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import typer

from audiocapbench.audio import EXTENSIONS
from audiocapbench.benchmarks import Benchmark, Selection
from audiocapbench.cli.app import INTERRUPTED
from audiocapbench.cli.console import ask, say, some
from audiocapbench.data import Sample
from audiocapbench.engine import (
    Budget,
    Preview,
    as_questions,
    cached_answers,
    find_run,
    missing_samples,
    preview_questions,
)
from audiocapbench.engine.budget import dollars
from audiocapbench.errors import AudioCapBenchError
from audiocapbench.judges import (
    Judge,
    JudgeTask,
    expected_answers,
    missing_judgements,
    preview_judging,
)
from audiocapbench.judges.judge import models_of
from audiocapbench.models import Model
from audiocapbench.models.openai_batches import check_batchable
from audiocapbench.scores.estimate import counted
from audiocapbench.store import Store


def confirm(previews: Iterable[Preview], *, budget_usd: float | None = None, yes: bool) -> None:
    """Show what will cost money and have it agreed to, or end the command.

    Raises:
        ModelError: There is a budget, and no price is known of someone who will be asked.
        AudioCapBenchError: No one can be asked, and ``yes`` was not said.
        typer.Exit: The answer is no.
    """
    paid = [one for one in previews if one.is_paid]
    for one in paid:
        if one.likely_usd is None:
            Budget(budget_usd).check(one.who, None)
    if not paid:
        return
    say(*map(str, paid))
    if budget_usd is not None:
        say(f"The budget is {dollars(budget_usd)}; the run stops before it is overspent.")
    answer = True if yes else ask("Go on?")
    if answer is None:
        raise AudioCapBenchError(
            f"this will cost {_total(paid)}, and there is no terminal to ask at; nothing was "
            "asked. Add --yes to agree"
        )
    if not answer:
        say("Nothing was asked.")
        raise typer.Exit(INTERRUPTED)


def preview_run(
    benchmark: Benchmark,
    models: Sequence[Model],
    judges: Sequence[Judge],
    store: Store,
    *,
    selection: Selection,
    prices: Path | None = None,
    fresh: bool = False,
    batch: bool = False,
) -> Iterator[Preview]:
    """What models would be asked, and judges, were every question answered."""
    if batch:
        check_batchable([*models, *models_of(judges)])
    samples = selection.of(benchmark)
    to_judge: dict[str, list[JudgeTask]] = {judge.name: [] for judge in judges}
    for model in models:
        missing = missing_samples(benchmark, model, store, samples, fresh=fresh)
        reused = {} if fresh else cached_answers(store, model, missing)
        run = None if fresh else find_run(benchmark, model, store, samples)
        waiting = set() if fresh else store.batches.awaited_anywhere(benchmark.fingerprint, model)
        waiting |= {sample for sample, _ in store.batches.awaited(run.id)} if run else set()
        asked = [one for one in missing if one.id not in reused and one.id not in waiting]
        count = len({sample.clip.sha256 for sample in asked})
        questions = "{} questions on " if len(asked) != count else ""
        what = f"{questions}{counted(count, 'clip')}, {_length(asked)}"
        found = preview_questions(model.name, model, as_questions(asked), what, prices=prices)
        found = found._replace(known=len(samples) - len(missing), reused=len(reused))
        yield found.in_batches() if batch else found
        for judge in judges:
            to_judge[judge.name] += expected_answers(missing, reused)
            to_judge[judge.name] += missing_judgements(store, run, judge) if run else []
    for judge in judges:
        cache = None if fresh else store
        found = preview_judging(judge, to_judge[judge.name], store=cache, prices=prices)
        yield found.in_batches() if batch else found


def say_what_changed(benchmark: Benchmark, store: Store) -> None:
    """Say what was guessed, is left out, or has changed since it was last run: a new run then."""
    say(*benchmark.notes)
    _say_unlisted(benchmark)
    root = str(benchmark.root.resolve())
    changed = store.catalog.changes(benchmark.name, root, benchmark.fingerprint, benchmark.samples)
    if changed is None:
        return
    since = f"since run {changed.run}, so this is a new run"
    facts = (
        ("clip", "changed", changed.clips),
        ("sample", "other references, instruction or category", changed.texts),
        ("sample", "come or gone", changed.others),
    )
    for noun, how, names in facts:
        if names:
            has = "has" if len(names) == 1 else "have"
            say(f"{counted(len(names), noun)} {has} {how} {since}: {some(names)}")


def _say_unlisted(benchmark: Benchmark) -> None:
    """Say which audio files of a user's folder its metadata does not name."""
    if not benchmark.name.startswith("folder/"):
        return
    named = {one.clip.file_name for one in benchmark.samples}
    named |= {one.file_name or one.id for one in benchmark.missing}
    root = benchmark.root
    there = (one.relative_to(root).as_posix() for one in sorted(root.rglob("*")))
    left = [name for name in there if name not in named and Path(name).suffix.lower() in EXTENSIONS]
    if left:
        say(f"{counted(len(left), 'audio file')} not named in the metadata, left out: {some(left)}")


def _total(previews: Sequence[Preview]) -> str:
    known = sum(one.likely_usd or 0.0 for one in previews)
    if all(one.likely_usd is not None for one in previews):
        return f"about {dollars(known)}"
    return f"more than {dollars(known)}; not all prices are known" if known else "an unknown amount"


def _length(samples: Sequence[Sample]) -> str:
    return f"{length(sum(sample.clip.duration_s for sample in samples))} of audio"


def length(seconds: float) -> str:
    """A time in words: seconds, minutes or hours."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
