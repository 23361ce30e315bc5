"""``judges``, ``ratings``, ``meta ratings``, ``wins``, ``controls``: what judges and people say."""

from contextlib import suppress
from dataclasses import asdict, replace
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from typer import BadParameter, Option

from audiocapbench.asking import ClipOptions, JudgePanel, SampleOptions
from audiocapbench.cli import options
from audiocapbench.cli.app import add_group, leave
from audiocapbench.cli.console import say, show_lines, show_result, show_text
from audiocapbench.cli.meta import meta_app
from audiocapbench.errors import AudioCapBenchError, StoreError
from audiocapbench.files import write_file
from audiocapbench.table import Column, Findings, Table, ValueWithInterval, signature_notes
from audiocapbench.table.forms import Format

if TYPE_CHECKING:
    from audiocapbench.data.opinions import Opinions
    from audiocapbench.judges.check import JudgeCheck
    from audiocapbench.store import Store

judges_app = add_group("judges")
ratings_app = add_group("ratings")


@options.command(judges_app.callback)
def judges(*, json: bool = False) -> None:
    """List the judges, or check one on answers whose quality is known."""
    from audiocapbench.judges.registry import list_contracts, list_judges

    heads = {"name": "[contract=NAME]", "description": "what a model is asked", "scores": "scores"}
    columns = [Column(name, heading) for name, heading in heads.items()]
    contracts = [one._asdict() for one in list_contracts()]
    listed = [{"name": one.name, "description": one.description} for one in list_judges()]
    tables = [
        Table("", listed, name="judges", stacks=True),
        Table("", contracts, columns, name="contracts", stacks=True),
    ]
    show_result(Findings(tables), json=json)


@options.command(judges_app.command)
def check(
    judge: str,
    *,
    data: str | None = None,
    benchmark: str | None = None,
    clips: ClipOptions,
    repeats: options.Repeats = 3,
    samples: SampleOptions,
    panel: JudgePanel,
    session: options.Session,
    json: bool = False,
) -> None:
    """See whether a judge tells right answers from safe and wrong ones.

    Right is one of the clip's references (of mecat-qa the only one, left in), safe a generic
    sentence, wrong another clip's reference to the same kind of question.

    Args:
        judge: The judge on trial.
        data (DIR): A benchmark's name or a dataset folder. [default: demo]
        benchmark (NAME): What the folder holds: mecat-caption, …
    """
    from audiocapbench.benchmarks import open_benchmark
    from audiocapbench.cli.progress import carry_out
    from audiocapbench.judges.check import CHECKED, check_judge, known_answers, preview_parts
    from audiocapbench.plan import TaskPlan, panel_judges, selected

    place = Path(data) if benchmark and data else None
    opened = open_benchmark(benchmark or data or "demo", place, **clips)
    how = session.asking()
    traits = replace(opened.traits, unfit_judges={})  # one that does not hold there may show it
    [asked] = panel_judges(replace(panel, judge=[judge]), traits, how.timeout)
    store = options.open_store(session.store, create=True)
    what: Any = {"selection": selected(samples), "repeats": repeats}
    plan = TaskPlan(
        how,
        lambda: preview_parts(
            store, known_answers(asked, opened, store, **what).values(), how.prices
        ),
        lambda host: check_judge(
            asked, opened, store, **what, **how.options(host.watch(rounds=CHECKED))
        ),
    )
    checked = carry_out(plan, yes=session.yes)
    document = checked.document()
    store.put_judge_check(asked.name, opened.name, checked.signature.name, document)
    show_result(Findings([_check_table(checked)], document), json=json)
    if checked.warning:
        say(f"Warning: {checked.warning}.")
    for reason, count in checked.reasons.items():
        say(f"{checked.judge}: {count:,} without a verdict: {reason}")
    leave(failed=bool(checked.failed))


@options.command(judges_app.command)
def sensitivity(
    runs: options.RunsArgument,
    *,
    judge: str,
    sample: Annotated[int | None, Option(min=1)] = None,
    seed: int = 0,
    repeats: options.Repeats = 3,
    judge_hears: bool = False,
    out: options.MaybeNewFile = None,
    session: options.Session,
    json: bool = False,
) -> None:
    """See how far a judge's scores, and the ranks of runs, hang on how it is asked.

    The same answers are judged in several rounds, with the prompt's other layout, without a schema,
    and with references in another order. Verdicts are kept, so that a stopped study goes on.

    Args:
        judge (JUDGE): A judge that is a model.
        out (FILE): Draw the shifts: FILE.svg, .png or .pdf.
    """
    from audiocapbench import benchmarks
    from audiocapbench.cli.progress import carry_out
    from audiocapbench.judges import sensitivity as study_of
    from audiocapbench.judges.check import preview_parts
    from audiocapbench.plan import TaskPlan
    from audiocapbench.report.judge_studies import sensitivity_sheet, sensitivity_table
    from audiocapbench.report.page.plots import figure_writer

    draw, how = None if out is None else figure_writer(out), session.asking()
    store = options.open_store(session.store)
    chosen = [store.run(number) for number in dict.fromkeys(runs)]
    for one in chosen:
        if one.is_trial:
            raise AudioCapBenchError(f"run {one.id} is of {one.benchmark}: it has no captions")
    contract = benchmarks.stored_traits(store.dataset(chosen[0].dataset, chosen[0].benchmark)).judge
    variants, fixed = study_of.judge_variants(
        judge, contract, hears=judge_hears, timeout=how.timeout
    )
    selection = benchmarks.Selection((), None, sample, seed)
    parts = study_of.plan_study(store, chosen, selection, variants, repeats)
    plan = TaskPlan(
        how,
        lambda: preview_parts(store, parts, how.prices),
        lambda host: study_of.study_sensitivity(store, parts, fixed, **how.options(host.watch())),
    )
    study = carry_out(plan, yes=session.yes)
    show_result(Findings([sensitivity_table(study)], asdict(study)), json=json)
    if draw is not None:
        draw(sensitivity_sheet(study))
    say(*(f"Not varied: {words}." for words in study.left_out))
    if study.failed:
        say(f"{study.failed:,} answers have no verdict one way or the other.")
    leave(failed=bool(study.failed))


def _check_table(checked: "JudgeCheck") -> Table:
    """Means of right, safe and wrong answers, and below them what else the check found."""
    from audiocapbench.scores.estimate import counted

    rows = [
        {"answers": kind, "n": one.n, "mean": ValueWithInterval(one.mean, one.interval)}
        for kind, one in checked.kinds.items()
    ]
    measures = {
        "a right answer scores above a safe one (AUC)": checked.auc_right_safe,
        "a safe answer scores above a wrong one (AUC)": checked.auc_safe_wrong,
        "agreement of its rounds (Fleiss' kappa)": checked.kappa,
        "length and score (rank correlation)": checked.length_correlation,
    }
    notes = [f"{words}: {value}" for words, value in measures.items()]
    if checked.left_in:
        notes.append("A sample has one reference: a right answer is the reference itself, left in.")
    for style, change in checked.styles.items():
        ends = [f"{end:+.2f}" for end in change.interval or ()]
        span = f"95 % {' to '.join(ends)}, " if ends else ""
        words = f"a right answer that is {style}, less the same as it was"
        notes.append(f"{words}: {change.shift:+.2f} ({span}{counted(change.n, 'answer')})")
    title = f"{checked.judge} on answers of known quality, 0 to 10"
    columns = [Column("answers"), Column("n"), Column("mean", form=".2f")]
    return Table(title, rows, columns, [*notes, *signature_notes([checked.signature])])


def _scale(text: str) -> tuple[float, float]:
    with suppress(ValueError):
        low, high = map(float, text.split(":"))
        if low < high and isfinite(high - low):
            return low, high
    raise BadParameter(f"{text!r} is no scale; write LOW:HIGH, such as 1:5.")


@options.command(judges_app.command)
def calibrate(
    runs: options.RunsArgument,
    *,
    ratings: str | None = None,
    judge: str | None = None,
    metric: str | None = None,
    next_: Annotated[int | None, Option("--next", min=1)] = None,
    seed: int = 0,
    out: options.MaybeNewFile = None,
    dimension: str = "overall",
    scale: Annotated[Any, Option(parser=_scale)] = "0:10",
    category: str | None = None,
    width: Annotated[float | None, Option(min=1e-6)] = None,
    at: options.StoreOptions,
) -> None:
    """Put a judge right by people's ratings of a random part of what it has judged.

    Prediction-powered inference (PPI++): the judge's mean over everything, less how far it is off
    where people rated. The interval holds whatever the judge is worth, counts how people differ
    and takes five of them; a judge that adds nothing is told so.

    Args:
        ratings (FILE): Ratings of a random part: a rating project of the store, or a file with
            item, person, value and, where there are several, run or model, dimension.
        judge (JUDGE): The judge that has judged the runs.
        metric (M): A metric instead of a judge.
        next_ (N): Choose N answers of each run for people to rate, at random by category and score,
            as rows for a rating project's 'chosen'; those of a smaller N are among them.
        out (FILE): Where the choice goes: FILE.csv.
        dimension (NAME): What was rated: overall (or the mean of the others), accuracy, …
        scale (LOW:HIGH): The scale of the ratings.
        category (NAME): Only samples of this category.
        width (X): Say how many ratings an interval of this width takes.
    """
    from audiocapbench.report.judge_studies import calibration_report
    from audiocapbench.scores.estimate import Scorer
    from audiocapbench.study.calibration import calibrate_runs, next_answers

    if (judge is None) == (metric is None):
        raise AudioCapBenchError("name what to put right: --judge or --metric")
    scorer = Scorer(judge, dimension) if judge is not None else Scorer(str(metric))
    numbers = list(dict.fromkeys(runs))
    if next_ is not None:
        rows = next_answers(at.open(), numbers, scorer, next_, category, seed)
        form = Format.JSON if at.json else Format.CSV if out is not None else Format.TABLE
        options.write(Findings([Table("", rows, name="next")]), form, out)
        return
    if ratings is None:
        raise AudioCapBenchError("name people's --ratings, or choose what to rate with --next N")
    calibration = calibrate_runs(
        at.open(),
        numbers,
        ratings,
        scorer,
        dimension=dimension,
        scale=scale,
        width=width,
        category=category,
    )
    at.show(calibration_report(calibration, width))


@options.command(meta_app.command, "ratings")
def rating_tests(
    file: str,
    *,
    columns: options.Columns = None,
    against: float = 3.0,
    compare: list[str] | None = None,
    at: options.StoreOptions,
) -> None:
    """Test ratings on a scale against a baseline, group by group, and groups against each other.

    Wilcoxon's test with rank-biserial correlation and Cohen's d, corrected by Bonferroni; of two
    groups Mann and Whitney's test with Cliff's delta.

    Args:
        file (FILE): A rating project of the store, or a table with a rating a line: rating, and
            where they are known group and item.
        columns (ROLE=COLUMN): Which column of a table is what, such as value=stars,item=clip.
        against (X): The baseline.
        compare (A:B): Two groups, or two sets of them such as A+B:C+D; may be repeated.
    """
    from audiocapbench.report.ratings import rating_report

    at.show(rating_report(_opinions(file, at.store, columns or []), against, compare or ()))


def _opinions(file: str, store: str, columns: list[str] | None = None) -> "Opinions":
    from audiocapbench.data.columns import mapped_columns
    from audiocapbench.data.opinions import ROLES, read_opinions

    if Path(file).exists():
        named = None if columns is None else mapped_columns(columns, ROLES)
        return read_opinions(Path(file), named)
    with _project_store(file, store) as opened:
        return opened.ratings.opinions(file)


@options.command(meta_app.command)
def wins(
    file: list[str],
    *,
    kind: Literal["csv", "human", "brace-main"] = "csv",
    metrics: options.Metrics = None,
    at: options.StoreOptions,
) -> None:
    """Count how often people prefer a model's captions, and score what they prefer.

    Where pairs say who wrote them (model_a and model_b), models are ranked, a tie counting half,
    with intervals clustered by person and clip; else it is the first caption that is counted. Of a
    project it is also said how often the runs' judges and metrics prefer what people do.

    Args:
        file (FILE): Pairs with answers, or a rating project of the store whose kind is pairs.
        kind: What the files are, as 'meta' has it.
        metrics (A,B): Metrics to score preferred captions with, and the others.
    """
    from audiocapbench.meta.pairs import by_votes, read_pairs
    from audiocapbench.meta.votes import project_pairs
    from audiocapbench.report.beside_people import beside_people
    from audiocapbench.report.ratings import win_report

    files = [Path(name) for name in file if Path(name).exists()]
    notes, beside = list[str](), list[Table]()
    pairs = read_pairs(kind, files, notes=notes) if files else []
    say(*(f"Note: {one}." for one in notes))
    for name in (one for one in file if not Path(one).exists()):
        with _project_store(name, at.store) as opened:
            pairs += by_votes(project_pairs(opened, name))
            beside.append(beside_people(opened, name))
    at.show(win_report(pairs, metrics or (), beside))


def _project_store(name: str, store: str) -> "Store":
    """The store with the rating project of a name that is no file's."""
    try:
        return options.open_store(store)
    except StoreError as error:
        raise StoreError(f"{name}: no such file, and no rating project: {error}") from None


@options.command(meta_app.command)
def controls(
    benchmark: str,
    *,
    metrics: options.Metrics = None,
    samples: SampleOptions,
    clips: ClipOptions,
    figure: options.MaybeNewFile = None,
    json: bool = False,
) -> None:
    """See how far metrics set right answers apart from safe and wrong ones, on any benchmark.

    Right is one of the clip's references, safe a generic sentence, wrong another clip's reference,
    blind the most usual one of other clips, echo what was asked. Where right is not above the
    others, or safe above wrong, a metric is unusable.

    Args:
        benchmark (NAME): A benchmark, a folder, a file of references, or NAME=DIR such as
            mecat-caption=DIR.
        figure (FILE): Draw the distributions: FILE.svg, .png or .pdf.
    """
    from audiocapbench.benchmarks.registry import named_benchmark
    from audiocapbench.plan import selected
    from audiocapbench.report.benchmark_reports import control_report, control_sheet, score_controls
    from audiocapbench.report.page.plots import figure_writer

    draw = None if figure is None else figure_writer(figure)
    opened = named_benchmark(benchmark, **clips)
    names = metrics or list(opened.traits.metrics)
    scores = score_controls(opened, names, selected(samples))
    show_result(control_report(scores), json=json)
    if draw is not None:
        draw(control_sheet(scores))


@options.command(ratings_app.callback)
def ratings(*, at: options.StoreOptions) -> None:
    """List the rating projects in the store; export one, or invite somebody anew."""
    with at.open() as store:
        lines = store.ratings.projects()
    if not lines and not at.json:
        show_lines("There are no rating projects; 'audiocapbench view --rate FILE' makes one.")
    columns = (Column("name", "project"), "kind", "people", "items", "ratings")
    table = Table("", [one._asdict() for one in lines], columns, name="projects")
    at.show(Findings([table]))


@options.command(ratings_app.command)
def agreement(file: str, *, at: options.StoreOptions) -> None:
    """Say how far people agree: alpha, kappa and intraclass correlations, with intervals.

    Args:
        file (FILE): A rating project of the store, or a table with item, person, value and, where
            there are several, run or model and dimension.
    """
    from audiocapbench.report.ratings import agreement_report

    at.show(agreement_report(_opinions(file, at.store)))


@options.command(ratings_app.command)
def export(
    project: str,
    *,
    out: options.MaybeNewFile = None,
    form: Literal["csv", "jsonl", "votes"] = "csv",
    dimension: str | None = None,
    gold: bool = False,
    store: options.Store = options.DEFAULT_STORE,
) -> None:
    """Write what people said, for 'judges calibrate', 'meta ratings', 'meta csv' and others.

    A row has item, run, model, group, person, dimension, value, and how it came about.

    Args:
        form: A row a rating, or of pairs one with all votes, for 'meta csv'.
        dimension (NAME): Only this one, such as accuracy.
        gold: Also answers to gold questions.
    """
    from audiocapbench.web.rating.items import export_ratings

    with options.open_store(store) as kept:
        text = export_ratings(kept, project, form, dimension, gold=gold)
    if out is None:
        show_text(text)
    else:
        write_file(out, text)
        say(f"Ratings of {project} were written to {out}.")


@options.command(ratings_app.command)
def invite(
    project: str,
    person: str = "",
    *,
    url: str = "http://127.0.0.1:8000",
    store: options.Store = options.DEFAULT_STORE,
) -> None:
    """Make another link for a person, or for the administrator; the one before ends.

    Args:
        person: Whose link; without a name it is the administrator's.
        url (URL): Where the project is open.
    """
    from audiocapbench.cli.report import links
    from audiocapbench.web.rating.routes import PATH

    with options.open_store(store) as kept:
        token = kept.ratings.renew_invitation(project, person)
    show_lines(*links(url.rstrip("/") + PATH, {person: token}))
