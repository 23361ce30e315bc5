"""The options of asking and of leaderboards, each declared here and nowhere else.

Commands have them as options, the library as keyword arguments, a study as keys of its file.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from annotated_types import Ge
from typing_extensions import TypedDict


class RequestOptions(TypedDict, total=False):
    """How models and judges are asked.

    Attributes:
        batch: Ask through the provider's batches: half the price, answers in a day.
        concurrency (N): Questions at once. [default: the model's own]
        rpm (N): The provider's requests a minute.
        tpm (N): The provider's tokens a minute.
        budget (USD): Most that this command may spend, however often it is started, judges and
            retries included. AUDIOCAPBENCH_BUDGET besides bounds what one process spends.
        budget_of (NAME): Book what is spent on a project; --budget is then for all of it.
        prices (FILE): Prices that replace the built-in table's.
        free: Models of endpoint/… and of plug-ins that have no price cost nothing.
        timeout (S): Seconds to wait for an answer or a verdict. [default: 120]
    """

    batch: bool
    concurrency: Annotated[int | None, Ge(1)]
    rpm: Annotated[float | None, Ge(0.01)]
    tpm: Annotated[float | None, Ge(1)]
    budget: Annotated[float | None, Ge(0)]
    budget_of: str | None
    prices: Path | None
    free: bool
    timeout: Annotated[float | None, Ge(1)]

    __pydantic_config__ = {"extra": "forbid", "allow_inf_nan": False}  # type: ignore[misc]  # noqa: RUF012


class ClipOptions(TypedDict, total=False):
    """Which clips of a folder are read.

    Attributes:
        follow_links: Read clips that are links out of the folder, as in a Hugging Face cache.
        skip_missing: Go on without clips that are not there or cannot be used, and count them.
    """

    follow_links: bool
    skip_missing: bool


@dataclass(frozen=True)
class ModelOptions:
    """What models are told beside the question.

    Attributes:
        temperature (T): [default: as published]
        max_tokens (N): Longest answer, in tokens. [default: the benchmark's, mostly 1,024]
        system (TEXT): What a chat model is told beforehand.
    """

    temperature: Annotated[float | None, Ge(0)] = None
    max_tokens: Annotated[int | None, Ge(1)] = None
    system: str | None = None


@dataclass(frozen=True)
class SampleOptions:
    """Which samples of a benchmark are asked.

    Attributes:
        category (NAME): Only this category; may be repeated.
        limit (N): Only the first so many samples.
        sample (N): Only so many samples, drawn from every category by its share.
        seed (N): Decides what --sample draws.
    """

    category: list[str] | None = None
    limit: Annotated[int | None, Ge(1)] = None
    sample: Annotated[int | None, Ge(1)] = None
    seed: int = 0


@dataclass(frozen=True)
class TrialOptions:
    """How scorers are asked to choose between two captions.

    Attributes:
        prompt (NAME): How a model: scorer is asked to compare: naive, naive-ref, naive-tie,
            naive-tie-ref, simple, simple-ref, simple-tie, simple-tie-ref, complex, complex-ref,
            complex-tie, complex-tie-ref, or all in turn. [default: simple]
        prompt_file (FILE): A prompt of your own instead.
        swap: Ask model: and control: scorers in both orders; show each, their mean and where
            both agree.
        answer (FORM): How model: scorers give their choice: text, as published, schema (JSON, where
            the provider takes response_format) or logprobs (the likelier token).
        reader (MODEL): Reads answers of model: scorers that the parser is not certain of.
        read (ANSWERS): What the reader reads: uncertain or all. [default: uncertain]
    """

    prompt: str | None = None
    prompt_file: Path | None = None
    swap: bool = False
    answer: Literal["text", "schema", "logprobs"] = "text"
    reader: str | None = None
    read: Literal["uncertain", "all"] | None = None
    seed: Annotated[int, Ge(0)] = 42


@dataclass(frozen=True)
class JudgePanel:
    """Who judges the answers, and how they are asked.

    Attributes:
        judge (JUDGE): Judge the answers; repeat for a panel.
        judge_hears: Give the judge the clip as well.
        judge_prompt: Layout of AudioCapBench's judge prompt. [default: the protocol's]
        protocol: How AudioCapBench is asked and judged: our way, or the published tool's.
    """

    judge: list[str] | None = None
    judge_hears: bool = False
    judge_prompt: Literal["paper", "tool"] | None = None
    protocol: Literal["ours", "published"] = "ours"

    @property
    def ways(self) -> dict[str, str]:
        """What a judge's contract is told: what is not its default."""
        published = {"protocol": self.protocol} if self.protocol != "ours" else {}
        return published | ({"prompt": self.judge_prompt} if self.judge_prompt else {})


class BoardOptions(TypedDict, total=False):
    """Which runs a leaderboard shows, and what it ranks them by.

    Attributes:
        benchmark (B): Only runs of this benchmark.
        by_category: Show a score for each category too.
        metric (M): Rank by this metric. [default: a judge that most runs have, else the headline]
        judge (J): Rank by this judge's overall score.
        published: Show the paper's results too; they need no store.
        all_runs: Show all runs, not each model's newest that was asked and that was imported.
        votes (FILE): Show how often people prefer each model, and how far that goes with the score:
            a rating project of pairs, or a file of pairs as for 'meta wins'; may be repeated.
    """

    benchmark: str | None
    by_category: bool
    metric: str | None
    judge: str | None
    published: bool
    all_runs: bool
    votes: list[str] | None
