"""The board document: all that a page shows of runs but their single samples.

``report`` and ``site`` write it into pages, ``view`` serves it, and figures are drawn from it. The
scripts of the pages read no field that is not declared here; a test compares both.
"""

from collections.abc import Iterable
from typing import Any, Literal

from pydantic import BaseModel

from audiocapbench.report.leaderboard.board import Ranking

Ends = tuple[float, float]


class DocumentPart(BaseModel, extra="forbid"):
    """A part of the document; a field that was not set is not written."""

    def to_dict(self) -> dict[str, Any]:
        return self.model_dump(exclude_unset=True)


class Cell(DocumentPart):
    """A score; ``zero`` and ``bounds`` are what failures could make of it.

    It was ``printed`` in a paper, or is ``claimed`` by a submission and cannot be checked here.
    """

    value: float
    interval: Ends | None = None
    zero: float | None = None
    bounds: Ends | None = None
    n: int = 0
    printed: bool = False
    claimed: bool = False

    @property
    def ends(self) -> Ends:
        """The ends of the interval: the score itself where there is none."""
        return self.interval or (self.value, self.value)


class ScorerEntry(DocumentPart):
    """A column of scores."""

    label: str
    column: str
    judge: str | None
    max_value: float
    digits: int


class BoardModel(DocumentPart):
    """A run, how it was asked, how that ended and what it cost; or a model of a paper.

    A model of a paper has no run, and no more than its label, provider and ``printed`` rank. From
    ``by`` on stands what a submission to a site says of it. Models of one family, and no others,
    share a ``mark``: a number, and its ``shape`` as a path.
    """

    label: str
    provider: str
    mark: int = 0
    shape: str = ""
    control: bool
    run: int | None
    benchmark: str = ""
    begun: str = ""
    parameters: str = ""
    audio: str = ""
    made: str = ""
    departures: str = ""
    asked: int = 0
    answered: int = 0
    total: int = 0
    statuses: dict[str, int] = {}
    cost: float | None = None
    cost_estimated: bool = False
    judging: float | None = None
    latency: float | None = None
    printed: int | None = None
    by: str | None = None
    link: str | None = None
    licence: str | None = None
    weights: Literal["open", "closed"] | None = None
    page: str = ""


class ScorerGroup(DocumentPart):
    """The scorers of one judge, or all metrics, and how many samples of each run they cover."""

    title: str
    scorers: list[int]
    coverage: str
    note: str


class ShownTable(DocumentPart):
    """A table as texts, with whether each column has ``numbers``."""

    title: str
    head: list[str]
    rows: list[list[str]]
    numbers: list[bool]
    notes: list[str]


class ScoreDifference(DocumentPart):
    """A scorer by its label on ``n`` samples of two runs; ``p`` is the corrected one.

    ``zero`` has both scores with failures as 0, where not the same samples failed.
    """

    scorer: str
    n: int
    zero: tuple[float | None, float | None] | None
    difference: float | None
    interval: Ends | None
    p: float | None


class PairComparison(DocumentPart):
    """What ``compare`` says of two runs; differences are the second less the first."""

    runs: tuple[int, int]
    verdict: str
    rows: list[ScoreDifference] = []


class CategoryView(DocumentPart):
    """All scores on one category, or on everything; by scorer ranks and what is known.

    ``winners`` are models that tests show to beat every other, by place. A report has ranks on
    everything alone.
    """

    samples: int
    estimates: list[list[Cell | None]]
    rankings: list[Ranking]
    notes: list[list[str]]
    verdicts: list[str]
    winners: list[int | None]

    def add(self, ranking: Ranking, notes: Iterable[str] = (), verdict: str = "") -> None:
        """Add how the models rank by the next scorer."""
        self.rankings.append(ranking)
        self.notes.append(list(notes))
        self.verdicts.append(verdict)
        self.winners.append(ranking.winner)


class BoardDocument(DocumentPart):
    """The document; its models are in the order of their ranks, published ones last.

    What takes long (ranks, ``trials`` of scorers) is not in a document of kept estimates alone.
    ``headline`` is a place among the scorers; ``judge_of_both`` scores accuracy and hallucination.
    ``views`` are by category, ``""`` is everything; ``anchors`` what captions that hear nothing and
    people's get by each scorer. Pages of a site have a ``home``, a report the ``pairs`` that it has
    inside.
    """

    title: str
    benchmark: str
    version: str
    asked: str
    datasets: list[str]
    method: str
    fewest: int
    samples: int
    clips: int
    missing_clips: int
    headline: int
    scorers: list[ScorerEntry]
    providers: list[str]
    models: list[BoardModel]
    boards: list[ScorerGroup]
    trials: list[ShownTable] = []
    judge_of_both: str | None
    notes: list[str]
    warnings: list[str]
    signatures: list[str]
    pairs: list[PairComparison] = []
    home: str | None = None
    views: dict[str, CategoryView]
    anchors: dict[str, list[float | None]] = {}

    @property
    def estimates(self) -> list[list[Cell | None]]:
        """Scores on everything, by scorer and model."""
        return self.views[""].estimates

    @property
    def ranking(self) -> Ranking:
        """How the models rank by the headline, where that is known."""
        return next(iter(self.views[""].rankings[self.headline :]), Ranking())

    @property
    def verdict(self) -> str:
        return next(iter(self.views[""].verdicts[self.headline :]), "")


class SiteDocument(DocumentPart):
    title: str
    boards: list[BoardDocument]


class ServedBoard(DocumentPart):
    """What ``view`` answers: a board, whether more of it is still computed, and what else there is.

    ``version`` grows whenever a board of the store has become better; ``present`` is how samples of
    the board ended.
    """

    board: BoardDocument | None
    benchmarks: list[str]
    version: int
    error: str = ""
    partial: bool = False
    categories: list[str] = []
    present: list[str] = []
