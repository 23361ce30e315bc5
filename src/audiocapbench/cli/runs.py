"""What there is: ``runs`` of the store, ``models``, ``metrics`` and ``benchmarks``."""

import textwrap
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from audiocapbench.asking import ClipOptions
from audiocapbench.cli import options
from audiocapbench.cli.app import add_group, app
from audiocapbench.cli.console import ask, print_json, relative, say, show, show_lines, show_result
from audiocapbench.errors import SHOWN, AudioCapBenchError, BenchmarkError, JudgeError
from audiocapbench.table import Column, Findings, Table, dollars, signature_notes

if TYPE_CHECKING:
    from audiocapbench.store import RunLine, Store

_ANSWERS = 3

runs_app = add_group("runs")
benchmarks_app = add_group("benchmarks")
metrics_app = add_group("metrics")


@options.command(runs_app.callback)
def runs(*, trials: bool = False, tag: list[str] | None = None, at: options.StoreOptions) -> None:
    """List the runs in the store, show one, name, tag or delete them.

    Args:
        trials: Also those of 'meta', 'corrupt' and 'judges check'.
        tag (TAG): Only those with this tag.
    """
    with at.open() as store:
        name, every, option = store.name, store.runs(tag or ()), store.option
    lines = [line for line in every if trials or not line.is_trial]
    if not at.json and (hidden := len(every) - len(lines)):
        say(f"{hidden:,} {'run' if hidden == 1 else 'runs'} of trials not shown; --trials does.")
    if not at.json and not lines:
        tagged = f"has no run tagged {' and '.join(tag or ())}."
        makes = f"holds no runs yet; 'audiocapbench run{option}' makes one."
        show_lines(f"{name} {tagged if tag else makes}")
    columns = [
        Column("id", "run", "d"),
        Column("model"),
        Column("benchmark"),
        Column("begun", folds=True),
        Column("asked", form="{asked}/{sample_count}"),
        Column("statuses", align="left", folds=True),
        Column("cost_usd", "cost", "$"),
        *([Column("name")] if any(line.name for line in lines) else []),
        *([Column("tags", align="left")] if any(line.tags for line in lines) else []),
    ]
    rows = [
        asdict(line) | {"asked": line.asked, "begun": _minute(line.created_at)} for line in lines
    ]
    table = Table(f"Runs in {name}", rows, columns, name="runs")
    at.show(Findings([table], {"store": name}))


@options.command(runs_app.command, "show")
def show_run(run: options.RunArgument, *, at: options.StoreOptions) -> None:
    """Show one run: what was asked how, what became of it, some answers, and who scored it."""
    from audiocapbench.data.outcome import SCORED
    from audiocapbench.scores.departures import departures, in_short
    from audiocapbench.scores.table import TableReader

    with at.open() as store:
        stored, line, scorers = store.run(run), _line(store, run), store.catalog.scorers([run])
        outcomes, batches = store.outcomes(run), store.batches.of_run(run)
        departs = departures(store, {"": TableReader(store).read(stored)}, None).get("")
    replies = {key: outcomes[key].reply for key in stored.sample_ids if key in outcomes}
    lost = (one for one in replies.values() if one.status not in SCORED)
    reasons = Counter(f"{one.status}: {one.error or 'no reason given'}" for one in lost)
    notes = Counter(one.error for one in replies.values() if one.error and one.status in SCORED)
    answered = {key: one.text for key, one in replies.items() if one.status in SCORED}
    document: dict[str, Any] = asdict(line) | {
        "audio": line.contract,
        "departs": None if departs is None else in_short(departs),
        "race": " ".join(one["statement"] for one in line.races.values()),
        "batches": batches,
        "failures": dict(reasons.most_common()),
        "notes": dict(notes.most_common()),
        "answers": dict(list(answered.items())[:_ANSWERS]),
        "scorers": [asdict(one) | {"signatures": [*map(str, one.signatures)]} for one in scorers],
    }
    (print_json if at.json else _print_run)(document)


@options.command(runs_app.command)
def rename(
    run: options.RunArgument, name: str, *, store: options.Store = options.DEFAULT_STORE
) -> None:
    """Give a run a name.

    Args:
        name: What to call it; '' takes the name away.
    """
    with options.open_store(store) as opened:
        opened.catalog.rename(run, name.strip() or None)
    called = f"is called {name.strip()!r}" if name.strip() else "has no name"
    show_lines(f"Run {run} {called}.")


@options.command(runs_app.command, "tag")
def tag_run(
    run: options.RunArgument,
    tags: list[str],
    *,
    remove: bool = False,
    store: options.Store = options.DEFAULT_STORE,
) -> None:
    """Put tags on a run; 'audiocapbench runs --tag TAG' lists those that have one.

    Args:
        tags (TAG): One or more.
        remove: Take them off instead.
    """
    if not all(tag.strip() for tag in tags):
        raise AudioCapBenchError("a tag is empty; give it a word")
    with options.open_store(store) as opened:
        opened.catalog.tag(run, [tag.strip() for tag in tags], remove=remove)
        left = _line(opened, run).tags
    show_lines(f"Run {run} is tagged {', '.join(left)}." if left else f"Run {run} has no tags.")


@options.command(runs_app.command, "delete")
def delete_runs(
    runs: options.RunsArgument, *, yes: bool = False, store: options.Store = options.DEFAULT_STORE
) -> None:
    """Delete runs with their answers, scores and judgements; asks first.

    Args:
        yes: Do not ask first.
    """
    chosen = list(dict.fromkeys(runs))
    with options.open_store(store) as opened:
        say(*(_loss(opened, number) for number in chosen))
        if not yes and not (answer := ask("Delete for good?")):
            hint = "; without a terminal, give --yes" if answer is None else ""
            raise AudioCapBenchError(f"nothing was deleted{hint}")
        opened.catalog.delete(chosen)
    say(f"Deleted {len(chosen):,}. Replies that were cached stay in the cache.")


def _line(store: "Store", number: int) -> "RunLine":
    return store.runs(only=[store.run(number).id])[0]


def _loss(store: "Store", number: int) -> str:
    from audiocapbench.scores.estimate import counted

    line = _line(store, number)
    judges = [one for one in store.catalog.scorers([number]) if one.is_judge]
    costs = [one for one in (line.cost_usd, *(one.cost_usd for one in judges)) if one is not None]
    judged = sum(one.count for one in judges)
    lost = f"{counted(line.asked, 'answer')}, {counted(judged, 'judgement')}"
    lost += f", {dollars(sum(costs))} that they cost"
    if waiting := store.batches.count_out(number):
        lost += f", and {counted(waiting, 'answer')} that batches will bring"
    named = f" {line.name!r}" if line.name else ""
    return f"Run {number}{named} ({line.model} on {line.benchmark}) will be lost: {lost}."


def _print_run(document: dict[str, Any]) -> None:
    batches = [
        f"{one['remote'] or 'not sent yet'} ({one['count']:,} at half price"
        f"{' for ' + one['judge'] if one['judge'] else ''})"
        for one in document["batches"]
    ]
    facts = {
        "run": document["id"],
        "tags": ", ".join(document["tags"]),
        **{name: document[name] for name in ("name", "kind", "benchmark", "model", "audio")},
        "parameters": _joined(document["parameters"]),
        "begun": f"{_minute(document['created_at'])} by {document['made_by']}",
        "samples": f"{document['sample_count']:,}",
        "outcomes": _joined(dict(sorted(document["statuses"].items()))),
        "cost": None if document["cost_usd"] is None else dollars(document["cost_usd"]),
        "by batch": ", ".join(batches),
        **{name: document[name] for name in ("race", "departs")},
    }
    show_lines(*(f"{name:<11}{value}" for name, value in facts.items() if value not in (None, "")))
    for name in ("failures", "notes"):
        for reason, count in list(document[name].items())[:SHOWN]:
            show_lines(f"{count:>6,} × {reason}")
    for key, text in document["answers"].items():
        show_lines(f"{key}: {textwrap.shorten(text, 200, placeholder=' …') or '(nothing)'}")
    if scorers := document["scorers"]:
        cost, made_by = Column("cost_usd", "cost", "$"), Column("made_by", align="left")
        columns = ("scorer", Column("count", "scores"), cost, made_by)
        signatures = (made for one in scorers for made in one["signatures"])
        show(Table("", scorers, columns, signature_notes(signatures)))


def _joined(values: dict[str, Any]) -> str:
    return ", ".join(f"{key} {value}" for key, value in values.items())


def _minute(time: str) -> str:
    return time[:16].replace("T", " ")


@options.command(app.command)
def doctor(*, credentials: options.FoundCredentials = None, json: bool = False) -> None:
    """See what works here and now, what is missing, and the one command that brings it.

    Extras, models, metrics, judges, experts, encoders, formats and keys; nothing is downloaded,
    nobody is asked, no key is shown.
    """
    from audiocapbench.library.doctor import examine

    show_result(examine(), json=json)


@options.command(app.command)
def models(*, json: bool = False) -> None:
    """List the models that can be asked, with the audio that each takes, and what it costs.

    A price is of 1,000,000 tokens that are read, heard and written, as of a day.
    """
    from audiocapbench.models import list_models

    rows = [
        {"name": one.name, "description": one.description}
        | {"audio": str(one.contract or "its own"), "settings": ", ".join(one.settings)}
        | {"price": str(one.price or "")}
        for one in list_models()
    ]
    _show_listing("models", rows, json=json)


@options.command(metrics_app.callback)
def metrics(*, json: bool = False) -> None:
    """List the metrics, with the options that each takes in brackets, or show one.

    In a list of metrics, a preset stands for several: aac, paper or offline.
    """
    from audiocapbench.metrics import list_metrics
    from audiocapbench.metrics.registry import PRESETS

    rows = [
        {"name": one.name, "description": one.description}
        | {"options": ", ".join(one.options), "needs": one.needs}
        for one in list_metrics()
    ]
    notes = [f"Preset {name}: {', '.join(own)}" for name, own in PRESETS.items()]
    _show_listing("metrics", rows, *notes, json=json, presets=PRESETS)


@options.command(metrics_app.command, "show")
def show_metric(name: str, *, json: bool = False) -> None:
    """Show a metric, and what captions that hear nothing get by it on public data.

    Args:
        name (NAME): A metric with its options, or judge:elements.
    """
    from audiocapbench.meta.blind import measured_scores, searched_scorer
    from audiocapbench.metrics import find_metric

    scorer, facts = name, dict[str, str]()
    if name.startswith("judge:"):
        facts["name"] = searched_scorer(name).name
    else:
        metric, parsed = find_metric(name)
        scorer = f"metric:{parsed}"
        facts |= {"name": str(parsed), "description": metric.description, "needs": metric.needs}
        facts["options"] = ", ".join(metric.options)
        facts["range"] = f"{metric.min_value:g} to {metric.max_value:g}"
    columns = (
        "corpus",
        Column("n", "clips", ","),
        Column("blind", "best blind caption", ".3f"),
        Column("person", "a person's", ".3f"),
        Column("other", "another clip's", ".3f"),
        Column("affix", "best affix gains", "+.3f"),
    )
    rows = measured_scores(scorer)
    notes = signature_notes(row["signature"] for row in rows)
    tables = [Table("", [{"": key, "scorer": text} for key, text in facts.items() if text])]
    tables += [Table("What hears nothing", rows, columns, notes, name="blind")] if rows else []
    show_result(Findings(tables, facts), json=json)
    say("'audiocapbench meta cheat --search' measures blind captions on data of your own.")


@options.command(benchmarks_app.callback)
def benchmarks(*, json: bool = False) -> None:
    """List the benchmarks that can be run, or show what one is made of."""
    from audiocapbench.benchmarks import list_benchmarks

    _show_listing("benchmarks", [one._asdict() for one in list_benchmarks()], json=json)


@options.command(benchmarks_app.command, "show")
def show_benchmarks(
    names: list[str],
    *,
    by: str = "category",
    map_file: Annotated[Path | None, Option("--map", callback=options.writable)] = None,
    encoder: str = "caption2vec",
    sample: Annotated[int, Option(min=1)] = 2000,
    clips: ClipOptions,
    json: bool = False,
) -> None:
    """Show clips, captions and vocabulary of benchmarks, by category, and draw a map of them.

    Args:
        names (NAME): Benchmarks, folders, files of references, or NAME=DIR such as
            mecat-caption=DIR.
        by (FIELD): category, benchmark, or a field of the samples such as domain.
        map_file (FILE): Draw what is alike close together (t-SNE): FILE.svg, .png or .pdf; needs
            the extra plots.
        encoder (NAME): What the map is of: first captions by caption2vec, minilm, tinybert or a
            folder's encoder, or audio by clap[...].
        sample (N): So many samples of each benchmark are on the map.
    """
    from audiocapbench.benchmarks.registry import named_benchmark
    from audiocapbench.report.benchmark_reports import corpus_map, corpus_report, grouped
    from audiocapbench.report.page.plots import figure_writer

    draw = None if map_file is None else figure_writer(map_file)
    opened = [named_benchmark(name, **clips) for name in dict.fromkeys(names)]
    report = corpus_report(", ".join(one.name for one in opened), grouped(opened, by), by)
    show_result(report, json=json)
    if draw is not None:
        drawn, label = corpus_map(grouped(opened, by, sample), encoder)
        draw(drawn)
        say(f"Written: {map_file} ({label})")


@options.command(benchmarks_app.command, "new")
def new_benchmark(folder: Path, *, force: bool = False) -> None:
    """Write FOLDER/benchmark.toml, a file that makes a benchmark of the clips in the folder.

    Args:
        folder (FOLDER): A folder with metadata, or with one table beside the audio files.
        force: Write over a file that is there.
    """
    from audiocapbench.benchmarks.benchmark_file import write_new

    path = write_new(folder, force=force)
    say(
        f"Written: {relative(path)}. Say there whose the clips are and who may use them, then:",
        f"  audiocapbench benchmarks check {quote(str(relative(path)))}",
    )


@options.command(benchmarks_app.command, "check")
def check_benchmark(file: str, *, data: Path | None = None, json: bool = False) -> None:
    """Say what is wrong with a benchmark's file or missing in it, and with its data on this disk.

    Args:
        file (FILE): A file that ends in .toml, or the name of a shipped benchmark.
    """
    from audiocapbench.benchmarks.benchmark_file import check_file
    from audiocapbench.judges import find_contract

    facts, lacks = check_file(file, data)
    try:
        find_contract(facts["judge"])
    except JudgeError as error:
        raise BenchmarkError(*(f"{file}: traits.judge: {one}" for one in error.args)) from None
    rows = [{"": key, "value": value} for key, value in facts.items() if value]
    show_result(Findings([Table("", rows, name="file")], facts | {"lacks": lacks}), json=json)
    say(*(f"Missing: {one}." for one in lacks))


def _show_listing(
    name: str, rows: list[dict[str, str]], *notes: str, json: bool, **facts: Any
) -> None:
    """Print what there is to choose from, without columns that say nothing."""
    columns = [field for field in rows[0] if any(row[field] for row in rows)]
    table = Table("", rows, columns, notes, name=name, stacks=True)
    show_result(Findings([table], facts), json=json)
