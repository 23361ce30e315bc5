"""The keys of a benchmark's file, and what they must be together."""

import math
from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import Field

from audiocapbench.benchmarks.benchmark import Benchmark
from audiocapbench.benchmarks.choices import as_choices
from audiocapbench.benchmarks.traits import Traits
from audiocapbench.data.columns import names_of
from audiocapbench.data.toml_file import TomlTable
from audiocapbench.errors import BenchmarkError, MetricError, did_you_mean
from audiocapbench.files import read_lists
from audiocapbench.metrics import find_metric
from audiocapbench.metrics.choice import CHOICE

OTHER = "other: "
LICENCES = (
    *("CC0-1.0", "CC-BY-3.0", "CC-BY-4.0", "CC-BY-SA-3.0", "CC-BY-SA-4.0", "CC-BY-NC-3.0"),
    *("CC-BY-NC-4.0", "CC-BY-NC-SA-4.0", "CC-BY-NC-ND-4.0", "MIT", "Apache-2.0", "unknown"),
)
_Hash = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
_Text = Annotated[str, Field(min_length=1, pattern=r"\S")]
_Texts = Annotated[tuple[_Text, ...], Field(min_length=1)]
_TIMES = 2.5  # of what systems were seen to reach; CIDEr-D ends at 10
_DATE = r"^\d{4}(-(0[1-9]|1[0-2])(-([012]\d|3[01]))?)?$"
_Roles = Literal["audio", "references", "id", "category", "instruction", "transcript", "options"]


class DataFile(TomlTable, frozen=True):
    url: Annotated[str, Field(pattern=r"^https?://[^\s/]+/\S+$")]
    sha256: _Hash


class DataPlace(TomlTable, frozen=True):
    """Where the clips are: a repository of the Hub, files by address, or a folder beside the file.

    Attributes:
        keep: Only rows whose columns have these values.
        files: Downloaded into one folder; archives (tar, zip) are unpacked there.
        folder: A dataset folder, or where the audio of a ``table`` lies.
        table: A file with a row a clip, or a row a caption, that names the audio files.
    """

    hub: Annotated[str, Field(pattern=r"^[\w.-]+/[\w.-]+$")] | None = None
    revision: Annotated[str, Field(pattern=r"^[^:@\s]+$")] | None = None
    split: Annotated[str, Field(pattern=r"^[^:\s]+$")] | None = None
    keep: dict[str, str] = Field({})
    files: tuple[DataFile, ...] = ()
    folder: _Text | None = None
    table: _Text | None = None

    def mistakes(self) -> Iterator[str]:
        if (self.hub is None) == (self.folder is None and not self.files):
            yield "needs a hub repository, or files or a folder, and not both"
        if len({one.url for one in self.files}) < len(self.files):
            yield "files: a url stands there twice"
        for name in ("revision", "split") if self.hub is None else ("table",):
            if getattr(self, name):
                yield f"{name}: goes with {'a hub' if self.hub is None else 'a folder'}"
        if self.keep and self.hub is None and self.table is None:
            yield "keep: goes with a hub or a table; metadata of a folder is read as it is"

    @property
    def target(self) -> str:
        """The repository as ``hf://…`` names it, or the first address."""
        if self.files:
            return self.files[0].url
        revision = f"@{self.revision}" if self.revision else ""
        return f"hf://datasets/{self.hub}{revision}" + (f":{self.split}" if self.split else "")


class ExpectedData(TomlTable, frozen=True):
    """What the data must be: how many samples, and the fingerprint that ``check`` shows."""

    samples: Annotated[int, Field(ge=1)] | None = None
    sha256: _Hash | None = None


class PublishedSystem(TomlTable, frozen=True):
    """A system's printed scores on so many samples, by our metric that computes the same, and what
    its captions scored here."""

    system: _Text
    samples: Annotated[int, Field(ge=1)]
    scores: Annotated[dict[str, float], Field(min_length=1)]
    recomputed: dict[str, float] = Field({})
    variant: _Text
    source: _Text
    date: Annotated[str, Field(pattern=_DATE)]


class BenchmarkFile(TomlTable, frozen=True):
    """A benchmark as its file says it.

    Attributes:
        facts: Where what the file says is from.
        verified: Whether somebody opened the real data by this file.
        missing: What the data is known to lack beside what was published.
        options: Of every question, where no column has them, such as yes and no.
        columns: By role; several may hold references or options, and the audio of a table may be a
            pattern, such as ``{youtube_id}_{start_time}.wav``.
        traits: As plug-ins declare them.
    """

    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9._-]*$", max_length=80)]
    about: _Text
    licence: str
    citation: _Text
    facts: _Text
    verified: bool = False
    missing: str = ""
    notes: tuple[_Text, ...] = ()
    task: Literal["caption", "choice"] = "caption"
    instruction: _Text = ""
    category: _Text = ""
    options: tuple[_Text, ...] = ()
    data: DataPlace
    columns: dict[_Roles, _Text | _Texts] = Field({})
    traits: dict[str, Any] = Field({})
    expected: ExpectedData = ExpectedData()
    published: tuple[PublishedSystem, ...] = ()

    def mistakes(self) -> Iterator[str]:
        own = self.licence.removeprefix(OTHER)
        if not own.strip():
            yield f"licence: is blank; say which, or '{OTHER}…'"
        elif own == self.licence not in LICENCES:
            near = did_you_mean(own, LICENCES, "known are")
            yield f"licence: {own!r} is none that is known here{near}; or '{OTHER}…'"
        if bool(self.options) + ("options" in self.columns) != (self.task == CHOICE):
            yield "options, or columns.options, goes with task = 'choice' and only there"
        if not self.data.hub and not self.data.table and self.columns.keys() - {"options"}:
            yield "columns: goes with a hub or data.table; a folder's metadata has its own names"
        if self.data.table is None and "{" in "".join(names_of(self.columns.get("audio", ""))):
            yield "columns.audio: a pattern goes with data.table"
        if self.task == CHOICE and CHOICE not in self.traits.get("metrics", [CHOICE]):
            yield f"traits.metrics: questions with options are scored by {CHOICE}; name it there"
        yield from self._mistakes_of_scores()

    def _mistakes_of_scores(self) -> Iterator[str]:
        try:
            metrics = self.own_traits.metrics
        except BenchmarkError as error:
            yield str(error)
            metrics = ()
        named = dict.fromkeys(metrics, "traits.metrics")
        named |= {metric: "published" for one in self.published for metric in one.scores}
        for metric, key in named.items():
            try:
                if ".py:" not in metric:  # what is only read runs nobody's code
                    find_metric(metric)
            except MetricError as error:
                yield f"{key}: {error}"
        seen = read_lists("audiocapbench.data", "pairing.toml")["highest"]
        for one in self.published:
            for metric, value in one.scores.items():
                if value > _TIMES * seen.get(metric, math.inf):  # in percent, most likely
                    yield f"published: {one.system} has {metric} {value:g}, which is no score of it"
        if len({one.samples for one in self.published}) > 1:
            yield "published: its systems have other numbers of samples, and must have one"
        for one in self.published:
            if lost := [name for name in one.recomputed if name not in one.scores]:
                yield f"published: {one.system} has recomputed {lost[0]}, and no such score"

    @property
    def own_traits(self) -> Traits:
        controls = {"right_is": "reference", "blind_by": "benchmark"}
        given = {"metrics": [CHOICE], "controls": controls, "max_tokens": 64}
        given = (given if self.task == CHOICE else {}) | self.traits
        return Traits.from_dict(given)

    def mapped(self, audio: str = "audio") -> dict[str, str]:
        """Columns by role for a reader that calls that of the clip ``audio``; no pattern."""
        given = {audio if role == "audio" else str(role): one for role, one in self.columns.items()}
        names = {role: "+".join(names_of(one)) for role, one in given.items() if role != "options"}
        return {role: one for role, one in names.items() if "{" not in one}

    def asked(self, found: Benchmark, label: str, *, rotate: bool = False) -> Benchmark:
        """What is asked of samples: captions, or a choice of options."""
        if self.task != CHOICE:
            return found
        columns = names_of(self.columns.get("options", ()))
        return as_choices(found, label, columns, self.options, rotate=rotate)
