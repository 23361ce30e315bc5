"""A submission: one JSON file with all that a leaderboard site shows of a model, and no audio.

It comes from strangers. Nothing in it is a path, a program or an archive, and whatever it says that
can be computed is computed anew by ``check``.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import cached_property, partial
from operator import attrgetter
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, Self
from unicodedata import normalize

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, ValidationError
from pydantic_core import to_json

from audiocapbench.audio.reader import read_bytes
from audiocapbench.benchmarks import Benchmark, Traits
from audiocapbench.benchmarks.benchmark import BUILT_IN_TRAITS
from audiocapbench.data import MissingClip, Problem, Sample
from audiocapbench.data.outcome import JUDGED, Outcome, Reply, Status
from audiocapbench.data.problems import check_storable, parse_json, problems_of
from audiocapbench.engine import answered, score_run
from audiocapbench.engine.runner import dataset_of
from audiocapbench.errors import AudioCapBenchError, AudioError, MetricError, ReportError
from audiocapbench.judges.aggregation import MAX_VALUE
from audiocapbench.judges.executor import judgements_of
from audiocapbench.judges.registry import create_judge
from audiocapbench.metrics import METRICS
from audiocapbench.report.page.report_data import ReportData, gather
from audiocapbench.scores.compute import ALL, category
from audiocapbench.scores.estimate import Missing, Scorer
from audiocapbench.scores.summary import scoring
from audiocapbench.scores.table import RunTable, TableReader
from audiocapbench.signature import Signature
from audiocapbench.store import Dataset, Run, RunSpec, Store
from audiocapbench.store.records import Judgement, ScoreColumns
from audiocapbench.store.unsaved import parse_records
from audiocapbench.table.escape_controls import escape_controls

_LARGEST = 64_000_000
_LONGEST = 20_000
_ELEMENTS = "elements"
_EXACT = 1e-9
_OF_DATA = ("dataset", "traits", "samples", "missing")
_OF_RUN = ("benchmark", "dataset", "model", "parameters", "contract")
_NEARLY = 0.01
"""Of the scale: ends of an interval may fall on another tie of another NumPy."""

# Letters of other alphabets that look like Latin ones; those of wholly other shapes stay.
_LATIN_LIKE = str.maketrans(
    "АВЕЅІЈКМНОРСТУХԚԜаеорсухіјѕԁԛһԝӏΑΒΕΖΗΙΚΜΝΟΡΤΥΧον",
    "ABESIJKMHOPCTYXQWaeopcyxijsdqhwlABEZHIKMNOPTYXov",
)
_BLANK = "\u115f\u1160\u2800\u3164\uffa0"  # which Unicode calls letters and symbols


def skeleton(name: str) -> str:
    """What names have in common that people cannot tell apart."""
    return normalize("NFKC", name).translate(_LATIN_LIKE).casefold()


def _name(text: str) -> str:
    """What a page may show anywhere: one line, without marks that hide or turn it."""
    odd = set("<>" + _BLANK) & set(text)
    if not text or text != text.strip() or not text.isprintable() or odd:
        raise ValueError("a name is one line of visible letters, without < and >")
    return text


def _link(text: str) -> str:
    scheme, _, rest = text.partition("://")
    host = rest.partition("/")[0]
    odd = not text.isascii() or not text.isprintable() or set(" <>\"'`\\") & set(text)
    if odd or scheme not in ("https", "http") or not host.strip(".:") or "@" in host:
        raise ValueError("a link is an address that begins with https:// and names a host")
    return text


Name = Annotated[str, Field(max_length=200), AfterValidator(_name)]
Link = Annotated[str, Field(max_length=500), AfterValidator(_link)]
Line = Annotated[str, Field(max_length=2_000)]
Hash = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


class ScoreClaim(BaseModel, extra="forbid", strict=True):
    scorer: Line
    dimension: Line | None = None
    category: Name | None = None
    value: float
    interval: tuple[float, float] | None = None
    n: int
    signature: Line


class Submission(BaseModel, extra="forbid", strict=True):
    """All of it; ``dataset`` is the hash of the samples, which are those that were asked."""

    format: Literal["audiocapbench-submission-1"] = "audiocapbench-submission-1"
    model: Name
    by: Name | None = None
    link: Link | None = None
    licence: Name | None = None
    weights: Literal["open", "closed"] | None = None
    benchmark: Name
    dataset: Hash
    traits: dict[str, Any]
    samples: Annotated[list[Sample], Field(min_length=1)]
    missing: list[dict[str, Any]] = []
    parameters: dict[Name, Line | int | float | bool]
    contract: Line
    made_by: Line
    created_at: Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d[0-9:.+Z-]{0,30}$")]
    cost_usd: Annotated[float, Field(ge=0, lt=1e9)] | None = None
    answers: Annotated[list[Outcome], BeforeValidator(partial(parse_records, Outcome))]
    judgements: Annotated[list[Judgement], BeforeValidator(partial(parse_records, Judgement))] = []
    scores: list[ScoreClaim]
    _made_of: RunTable | None = None  # the table of the run that it was made of; None of a file

    @property
    def board(self) -> tuple[str, str]:
        return self.benchmark, self.dataset

    @cached_property
    def opened(self) -> Benchmark:
        """The samples as a benchmark that cannot be heard; ValueError where they are none."""
        numbers = [(one.position, one.clip.rate, one.clip.channels) for one in self.samples]
        if not all(0 <= one < 2**31 for sample in numbers for one in sample):
            raise ValueError("a sample has a number that is out of range")
        traits, samples = Traits.from_dict(self.traits), map(_unheard, self.samples)
        # An aggregation gives options to metrics, and a stranger's could name a file or a download.
        if traits.aggregation not in [one.aggregation for one in BUILT_IN_TRAITS]:
            raise ValueError("its scores add up in a way that no benchmark here does")
        missing = [MissingClip.model_validate(one) for one in self.missing]
        return Benchmark(self.benchmark, Path(), samples, missing, traits)

    @cached_property
    def outcomes(self) -> list[Outcome]:
        """An outcome for every sample, skipped where there is no answer; ValueError if wrong."""
        found = {one.sample_id: one for one in self.answers}
        known = {one.id: one for one in self.samples}
        if len(found) < len(self.answers) or len(known) < len(self.samples) or found.keys() - known:
            raise ValueError("a sample or an answer is there twice, or an answer is of no sample")
        for key, one in found.items():
            reply, references, who = one.reply, known[key].references, f"the answer to {key!r:.80}"
            if max(len(reply.text), len(reply.error or "")) > _LONGEST:
                raise ValueError(f"{who} is longer than {_LONGEST:,} characters")
            # Of an answer that was cut the text is kept, and not scored.
            says = bool(reply.text.strip())
            if says != (reply.status is Status.OK) and reply.status is not Status.TRUNCATED:
                raise ValueError(f"{who} is {reply.status}, and its text says otherwise")
            may_withhold = self.model.startswith("control/") and len(set(references)) > 1
            places = range(len(references)) if may_withhold else ()
            if reply.withheld is not None and reply.withheld not in places:
                raise ValueError(f"{who} withholds a reference, as only controls do")
        none = Reply("", Status.SKIPPED, "the submission has no answer")
        return [found.get(key) or Outcome(key, none, None, 0.0, 0.0, attempts=0) for key in known]

    @cached_property
    def verdicts(self) -> list[Judgement]:
        """What judges said of answers; ValueError where something else is there."""
        found, known = self.judgements, {one.id for one in self.samples}
        if len({(one.judge, one.sample_id, one.repeat) for one in found}) < len(found):
            raise ValueError("a judgement is there twice")
        for one in found:
            within = all(0 <= score <= 10 for score in one.scores.values())
            whole = bool(one.scores) == (one.status in JUDGED)
            if one.sample_id not in known or not within or not whole:
                raise ValueError(f"the judgement of {one.sample_id!r:.80} is of no sample, or none")
            _name(one.judge)
        return found

    def checked(self) -> Self:
        """Itself; ValueError, or what else it may be, where a part does not fit the others."""
        if self.opened.fingerprint != self.dataset:
            raise ValueError("the hash of the dataset is not that of its samples")
        _ = self.outcomes, self.verdicts
        return self


def make_submissions(
    store: Store, *run_ids: int, judgements: bool = True, **about: str | None
) -> Iterator[Submission]:
    """Stored runs as submissions, with every score; those on the same samples share these.

    Without judgements, judges' scores are claims that nobody can check. ``about`` says whose it is:
    ``model``, ``by``, ``link``, ``licence`` and ``weights``.
    """
    reader, first = TableReader(store), dict[int, Submission]()
    given = {name: value for name, value in about.items() if value is not None}
    for run_id in run_ids:
        table = reader.read(store.run(run_id))
        content = _content(store, table, judgements=judgements)
        # The reader has groups of the same samples once.
        if (known := first.get(id(table.groups))) is None:
            bare = Benchmark("", Path(), map(_unheard, table.samples), traits=table.traits)
            content |= {"dataset": bare.fingerprint, "traits": table.traits.to_dict()}
            content |= {"samples": list(bare.samples), "missing": list(map(dict, table.missing))}
        else:
            content |= {name: getattr(known, name) for name in _OF_DATA}
        with _told(f"run {run_id}"):
            check_storable(given)
            made = Submission.model_validate(content | given)
            made._made_of = table
            vars(made).update({"opened": known.opened} if known else {})
            first[id(table.groups)] = made.checked()
        yield made


def _content(store: Store, table: RunTable, *, judgements: bool) -> dict[str, Any]:
    """What a submission says of a run, but for its samples."""
    data = gather([table])
    (scored,) = data.runs
    run = scored.run
    if (left := len(table.samples) - len(table.outcomes)) or table.raced:
        part = f"asked about {left:,} of its {len(table.samples):,}" if left else "judged on all"
        judges = "".join(f" --judge {one}" for one in run.races if one in table.judgements)
        rest = f"run {run.benchmark} --model {run.model}" if left else f"score {run.id}{judges}"
        why = f"run {run.id} was not {part} samples, which a site cannot know"
        raise ReportError(f"{why}; 'audiocapbench {rest}{store.option}' does the rest")
    metrics = [one for one in data.scorers if one.dimension is None]
    if old := [one for one in metrics if Missing.NOT_JUDGED in table.point(one).missing]:
        why = f"run {run.id} has answers that came after it was scored"
        raise ReportError(f"{why}; {scoring(table, *old)} scores them")
    verdicts = [one for own in table.judgements.values() for one in own] if judgements else []
    answers = [one for key in run.sample_ids if (one := table.outcomes.get(key)) is not None]
    return {name: getattr(run, name) for name in ("model", "benchmark", "contract")} | {
        "parameters": dict(run.parameters),
        "made_by": run.made_by,
        "created_at": run.created_at,
        "cost_usd": table.cost_usd,
        "answers": [
            one if one.reply.raw is None else replace(one, reply=replace(one.reply, raw=None))
            for one in answers
        ],
        "judgements": verdicts,
        "scores": [
            {"scorer": scorer.name, "dimension": scorer.dimension, "category": name}
            | {"value": found.value, "interval": found.interval, "n": found.n}
            | {"signature": str(found.signature)}
            for scorer in data.scorers
            for name, key in [(None, ALL), *((one, category(one)) for one in table.categories)]
            if (found := scored.estimate(scorer, key)) is not None and found.value is not None
        ],
    }


def read_submission(path: Path) -> Submission:
    try:
        content = read_bytes(path, _LARGEST)
    except AudioError as error:
        raise ReportError(str(error)) from None
    if content[:2] in (b"PK", b"\x1f\x8b"):
        raise ReportError(f"{path}: is an archive; a submission is one JSON file, not compressed")
    value = parse_json(content, path.name)
    if isinstance(value, Problem):
        raise ReportError(f"{path}: {value.what}")
    with _told(str(path)):
        check_storable(value)
        return Submission.model_validate_json(to_json(value)).checked()


@contextmanager
def _told(where: str) -> Iterator[None]:
    """Whatever is wrong of a submission, as one line."""
    try:
        yield
    except ValidationError as error:
        raise ReportError(escape_controls(f"{where}: {problems_of(error)[0]}")) from None
    except (ValueError, TypeError, LookupError, RecursionError, AudioCapBenchError) as error:
        reason = " ".join(str(error).split())[:300]
        raise ReportError(escape_controls(f"{where}: {reason}")) from None


def _unheard(sample: Sample) -> Sample:
    return replace(sample, clip=replace(sample.clip, path=Path(sample.id)))


class CheckedSubmission(NamedTuple):
    """A submission as a run; ``claims`` cannot be checked here, for ``problems`` it is refused."""

    name: str
    submission: Submission
    table: RunTable
    data: ReportData | None
    claims: tuple[ScoreClaim, ...] = ()
    problems: tuple[str, ...] = ()

    @property
    def run(self) -> Run:
        return self.table.run


def check_submissions(
    store: Store, submissions: Sequence[tuple[str, Submission]], dataset: str | None = None
) -> list[CheckedSubmission]:
    """Put submissions into an empty store, score them anew and compare.

    All about the same samples get every score that any of them says, so that they can be ranked.
    ``dataset`` is the hash, or its beginning, that the samples must have.
    """
    first: dict[tuple[str, str], Submission] = {}
    names: dict[tuple[str, str], set[str]] = {}
    ways: dict[tuple[str, str], Counter[tuple[str, Signature]]] = {}
    for _, own in submissions:
        first.setdefault(own.board, own)
        names.setdefault(own.board, set()).update(claim.scorer for claim in own.scores)
        said = {(one.judge, one.signature) for one in own.verdicts}
        ways.setdefault(own.board, Counter()).update(said)
    # What departures of a judge change is measured by runs of the store that it judged both ways.
    measured = any(len({judge for judge, _ in own}) > 1 for own in ways.values())
    checked, datasets, groups = [], dict[Any, Dataset](), dict[Any, Any]()
    for board, known in first.items():
        kept = dataset_of(known.opened)
        in_order = tuple(sorted(kept.samples, key=attrgetter("position")))
        datasets[board] = replace(kept, samples=in_order)
    for number, (name, own) in enumerate(submissions, 1):
        # The way in which most were judged counts, so that one submission cannot unrank all.
        usual = dict(key for key, _ in reversed(ways[own.board].most_common()))
        verdicts = [one for one in own.verdicts if usual[one.judge] == one.signature]
        by_others = [one for one in verdicts if one.judge != _ELEMENTS]
        answers, samples = {one.sample_id: one for one in own.outcomes}, datasets[own.board]
        head: Any = {name: getattr(own, name) for name in _OF_RUN} | {"kind": "imported"}
        spec, known = RunSpec(sample_ids=tuple(answers), **head), first[own.board]
        if measured:
            store.add_judgements(store.begin_run(spec, samples, fresh=True).id, by_others)
        head |= {"created_at": own.created_at, "made_by": own.made_by}
        run = Run(id=number, sample_ids=spec.sample_ids, **head)
        scores, ours, made = _score(store, run, names[own.board], samples, answers)
        judged = sorted([*by_others, *ours], key=attrgetter("judge", "sample_id", "repeat"))
        table = RunTable(run, samples, known.opened.traits, answers, judged, scores)
        table.groups = groups.setdefault(own.board, (own._made_of or table).groups)
        if own._made_of is not None:
            table.take_over(own._made_of)
        made |= {one.judge for one in verdicts}
        claims = [one for one in own.scores if one.scorer not in made]
        data = None
        with suppress(ReportError):  # of answers that nothing here can score
            data = gather([table])
        problems = _differences(data, [one for one in own.scores if one.scorer in made])
        problems += [
            f"{one.scorer}: no judge gives {one.value:g}"
            for one in claims
            if one.dimension is not None and not 0 <= one.value <= MAX_VALUE
        ]
        if dataset is not None and not own.dataset.startswith(dataset):
            problems.append(f"its dataset is {own.dataset[:12]}, and not {dataset[:12]}")
        if (own.samples, own.traits, own.missing) != (known.samples, known.traits, known.missing):
            problems.append("says other things about the samples than one before it")
        checked.append(CheckedSubmission(name, own, table, data, tuple(claims), tuple(problems)))
    return checked


def look_alikes(checked: Iterable[CheckedSubmission]) -> list[str]:
    first: dict[str, CheckedSubmission] = {}
    pairs = [(first.setdefault(skeleton(one.submission.model), one), one) for one in checked]
    return [
        f"Warning: {one.name} and {other.name} are of models that look alike and are not: "
        f"{one.submission.model!a} and {other.submission.model!a}."
        for one, other in pairs
        if one.submission.model != other.submission.model
    ]


def _score(
    store: Store, run: Run, names: Collection[str], dataset: Dataset, answers: Mapping[str, Outcome]
) -> tuple[dict[str, ScoreColumns], list[Judgement], set[str]]:
    """Compute what of these scores needs nothing but the texts, and what our judge says of them;
    the names of what was."""
    known = {name: METRICS.get(name) for name in sorted(names) if name != _ELEMENTS}
    # With options a metric could be one of a file or a download.
    texts = [name for name, one in known.items() if one and not one.needs and not one.hears]
    made, scores, ours = set(texts), dict[str, ScoreColumns](), list[Judgement]()
    try:
        score_run(store, run, texts, dataset, answers, scores.update)
    except MetricError:
        for name in texts:
            try:
                score_run(store, run, [name], dataset, answers, scores.update)
            except MetricError:  # its weights are not here
                made.remove(name)
    if _ELEMENTS in names:
        judge: Any = create_judge(_ELEMENTS)
        ours = judgements_of(judge, answered(store, run, dataset, answers))
        made.add(_ELEMENTS)
    return dict(sorted(scores.items())), ours, made


def _differences(data: ReportData | None, claims: Iterable[ScoreClaim]) -> list[str]:
    if data is None:
        return ["nothing of it can be scored here"]
    (scored,), differences = data.runs, []
    for claim in claims:
        scorer, wrong = Scorer(claim.scorer, claim.dimension), None
        known = scorer in scored.table.scores
        known = known and claim.category in (None, *scored.table.categories)
        key = ALL if claim.category is None else category(claim.category)
        found = scored.estimate(scorer, key) if known else None
        ends, given = found.interval or () if found else (), claim.interval or ()
        apart = [abs(one - other) for one, other in zip(ends, given, strict=False)]
        if found is None or found.value is None:
            wrong = "the answers give no such score"
        elif str(found.signature) != claim.signature:
            wrong = f"was made by {claim.signature[:200]}, and here by {found.signature}"
        elif abs(found.value - claim.value) > _EXACT or found.n != claim.n:
            wrong = f"says {claim.value!r} of {claim.n:,} samples, the answers give "
            wrong += f"{found.value!r} of {found.n:,}"
        elif len(ends) != len(given) or max(apart, default=0.0) > _NEARLY * scorer.max_value:
            wrong = f"says the interval {given}, the answers give {tuple(ends)}"
        if wrong is not None:
            of = f" of {claim.category}" if claim.category else ""
            differences.append(f"{scorer.label}{of}: {wrong}")
    return differences
