"""Models that hear a clip and choose between two captions of it, asked through the engine.

Answers are kept in the store like those of any run: what was answered is never asked again. With
``swap`` every pair is also asked with its captions in the other order. A caption that wins in both
orders is chosen; where the orders disagree it is a tie, and unknown where one of them is.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from audiocapbench.benchmarks import Benchmark
from audiocapbench.data import Clip
from audiocapbench.data.outcome import Outcome, Status
from audiocapbench.engine import Progress, Stop, likely_cost, missing_samples, run_benchmark
from audiocapbench.meta.answers.parser import RULES, read_answer
from audiocapbench.meta.errors import TrialError, TrialStoppedError
from audiocapbench.meta.pairs.pair import CaptionPair
from audiocapbench.meta.pairwise.prompts import PairwisePrompt, named_prompt, prompt_from
from audiocapbench.meta.pairwise.questions import find_clips, questions, unheard
from audiocapbench.meta.pairwise.reader import AnswerReader, UnreadAnswer, create_reader, read_word
from audiocapbench.meta.pairwise.report import (
    PairwiseDiagnostics,
    consistency_share,
    position_share,
    positions,
    unknown_share,
)
from audiocapbench.meta.scorers.scorer import Choice
from audiocapbench.meta.settings import TrialSettings
from audiocapbench.models import Model, create_model
from audiocapbench.models.prices import price_of
from audiocapbench.models.varied import without_audio
from audiocapbench.signature import Signature, sign
from audiocapbench.store import Store

NO_CLIP = "no clip"
"""Stands among statuses for a pair that could not be asked because its clip is not there."""

_ANSWERED = frozenset({Status.OK, Status.EMPTY, Status.TRUNCATED})
_NAME = re.compile(r"(?P<model>.+?)(?:\[audio=(?P<audio>\w+)\])?", re.DOTALL)


class _OrderChoices(NamedTuple):
    """One order of the captions: choices by position, and how they were come by."""

    choices: list[Choice]
    failures: Counter[str]
    read: int = 0
    read_decided: int = 0
    read_unusable: int = 0


@dataclass(frozen=True, slots=True)
class _AskedOrders:
    """What the model said in both orders, for one list of pairs."""

    given: _OrderChoices
    swapped: _OrderChoices | None


class PairwiseScorer:
    """A model of the models room as a judge of pairs.

    Args:
        model: Who is asked.
        prompt: How.
        settings: The store, the budget, the folder of clips, and whether to ask both orders.
        reader: Reads what the parser cannot.
        name: As the command line names it.

    Attributes:
        failed: Questions without an answer in the latest choosing; they count as unknown.
    """

    def __init__(
        self,
        model: Model,
        prompt: PairwisePrompt,
        settings: TrialSettings,
        reader: AnswerReader | None = None,
        *,
        name: str,
    ) -> None:
        self._hears = model.contract.container != "none"
        if self._hears and settings.data is None:
            raise TrialError(
                f"{name} hears the clips: say with --data in which folder they are, or write "
                f"{name}[audio=no] to ask without them"
            )
        self.name = name
        self.failed = 0
        self._model = model
        self._prompt = prompt
        self._settings = settings
        self._reader = reader
        self._latest: tuple[tuple[CaptionPair, ...], _AskedOrders] | None = None

    @property
    def signature(self) -> Signature:
        """Everything that decides its choices."""
        parameters = {f"model.{key}": value for key, value in self._model.parameters.items()}
        reader = "none"
        if self._reader is not None:
            reader = f"{self._reader.model.name}+{'all' if self._reader.reads_all else 'unknown'}"
        return sign(
            "pairwise",
            protocol=1,
            model=self._model.name,
            **dict(sorted(parameters.items())),
            prompt=f"{self._prompt.name}-{self._prompt.hash}",
            orders=2 if self._settings.swap else 1,
            parser=RULES,
            reader=reader,
        )

    def choose(self, pairs: Sequence[CaptionPair]) -> Sequence[Choice]:
        """Its choices; with both orders asked, those that both agree on.

        Raises:
            TrialStoppedError: It was interrupted, or the budget is spent; answers are kept.
            TrialError: No clip is there, or a prompt shows references that a pair has not.
            ModelError: The model cannot be asked.
        """
        asked = self._ask(pairs)
        if asked.swapped is None:
            return asked.given.choices
        both = zip(asked.given.choices, asked.swapped.choices, strict=True)
        return [agreed(one, other.swapped) for one, other in both]

    def choose_as_given(self, pairs: Sequence[CaptionPair]) -> Sequence[Choice]:
        """Its choices with the captions in their own order, whatever the other order says."""
        return self._ask(pairs).given.choices

    def choose_swapped(self, pairs: Sequence[CaptionPair]) -> Sequence[Choice]:
        """Its choices when the captions change places, for the pairs as they stand.

        Raises:
            TrialError: It was not asked in the other order.
        """
        swapped = self._ask(pairs).swapped
        if swapped is None:
            raise TrialError(f"{self.name} was asked in one order only; ask with --swap")
        return [choice.swapped for choice in swapped.choices]

    def detail(self, pairs: Sequence[CaptionPair]) -> PairwiseDiagnostics:
        """Position bias, consistency and what went unread, for pairs that it has chosen of."""
        asked = self._ask(pairs)
        orders = [one for one in (asked.given, asked.swapped) if one is not None]
        choices = [one.choices for one in orders]
        seed = self._settings.seed
        consistency = None
        if asked.swapped is not None:
            other = [choice.swapped for choice in asked.swapped.choices]
            consistency = consistency_share(pairs, asked.given.choices, other, seed=seed)
        return PairwiseDiagnostics(
            prompt=self._prompt.name,
            orders=len(orders),
            asked=len(pairs) * len(orders),
            first_position=position_share(pairs, choices, seed=seed),
            consistency=consistency,
            unknown=unknown_share(pairs, choices, seed=seed),
            positions=positions(choices),
            failures=dict(sum((one.failures for one in orders), Counter())),
            read=sum(one.read for one in orders),
            read_decided=sum(one.read_decided for one in orders),
            read_unusable=sum(one.read_unusable for one in orders),
        )

    def _ask(self, pairs: Sequence[CaptionPair]) -> _AskedOrders:
        key = tuple(pairs)
        if self._latest is not None and self._latest[0] == key:
            return self._latest[1]
        clips, root = self._clips(pairs)
        asked = [
            questions(pairs, clips, self._prompt, root, swapped=swapped, heard=self._hears)
            for swapped in ((False, True) if self._settings.swap else (False,))
        ]
        self._confirm(asked)
        read = [
            self._read(pairs, benchmark, in_other_order=place == 1)
            for place, benchmark in enumerate(asked)
        ]
        found = _AskedOrders(read[0], read[1] if len(read) > 1 else None)
        self.failed = sum(one.failures.total() for one in read)
        self._latest = (key, found)
        return found

    def _clips(self, pairs: Sequence[CaptionPair]) -> tuple[Mapping[str, Clip], Path]:
        if not self._hears or self._settings.data is None:
            return unheard(pairs), Path()
        return find_clips(pairs, self._settings.data), self._settings.data

    def _read(
        self, pairs: Sequence[CaptionPair], benchmark: Benchmark, *, in_other_order: bool
    ) -> _OrderChoices:
        if not benchmark.samples:
            return _OrderChoices([], Counter())
        outcomes = self._outcomes(benchmark, self._model, self.name)
        shown = [pair.swapped() if in_other_order else pair for pair in pairs]
        choices, failures, unread = [], Counter[str](), []
        for pair in shown:
            outcome = outcomes.get(pair.id)
            if outcome is None or outcome.reply.status not in _ANSWERED:
                failures[NO_CLIP if outcome is None else str(outcome.reply.status)] += 1
                choices.append(Choice.UNKNOWN)
                continue
            text = outcome.reply.text
            choice = read_answer(text, pair.first, pair.second, self._prompt.labels)
            choices.append(choice)
            if text.strip() and self._is_for_reader(choice):
                unread.append(UnreadAnswer(pair.id, text, pair.first, pair.second))
        if self._reader is None or not unread:
            return _OrderChoices(choices, failures)
        return self._read_further(self._reader, pairs, choices, failures, unread, benchmark.name)

    def _is_for_reader(self, choice: Choice) -> bool:
        reader = self._reader
        return reader is not None and (reader.reads_all or choice is Choice.UNKNOWN)

    def _read_further(
        self,
        reader: AnswerReader,
        pairs: Sequence[CaptionPair],
        choices: list[Choice],
        failures: Counter[str],
        unread: Sequence[UnreadAnswer],
        name: str,
    ) -> _OrderChoices:
        benchmark = reader.questions(unread, self._prompt.labels, name)
        replies = self._outcomes(benchmark, reader.model, f"reader {reader.model.name}")
        words = {
            key: read_word(one.reply.text) if one.reply.status is Status.OK else None
            for key, one in replies.items()
        }
        # A reply that is no word of ours leaves what the parser found.
        found = [words.get(pair.id) or own for pair, own in zip(pairs, choices, strict=True)]
        usable = [word for word in words.values() if word is not None]
        decided = sum(word is not Choice.UNKNOWN for word in usable)
        return _OrderChoices(found, failures, len(unread), decided, len(unread) - len(usable))

    def _outcomes(self, benchmark: Benchmark, model: Model, name: str) -> dict[str, Outcome]:
        settings = self._settings
        done = 0

        def planned(_run: object, total: int, known: int) -> None:
            nonlocal done
            done = known
            settings.progress(name, done, total)

        def arrived(_outcome: Outcome) -> None:
            nonlocal done
            done += 1
            settings.progress(name, done, len(benchmark.samples))

        end = run_benchmark(
            benchmark,
            model,
            settings.store,
            budget=settings.budget,
            price=price_of(model.name, settings.prices),
            progress=Progress(planned, arrived),
        )
        if end.stop is not None:
            why = "the budget is spent" if end.stop is Stop.BUDGET else "interrupted"
            answered = sum(end.statuses.values())
            raise TrialStoppedError(
                f"{name}: {why} after {answered} of {end.total} answers, which are kept in "
                f"{settings.store.name}; the same command goes on from here"
            )
        return dict(settings.store.outcomes(end.run.id))

    def _confirm(self, asked: Sequence[Benchmark]) -> None:
        words = spending(self.name, self._model, asked, self._settings.store, self._settings.prices)
        if words is not None:
            self._settings.confirm(words)


def agreed(one: Choice, other: Choice) -> Choice:
    """The choice of both orders: what they agree on, unknown if one is, else a tie."""
    if one is other:
        return one
    return Choice.UNKNOWN if Choice.UNKNOWN in (one, other) else Choice.TIE


def spending(
    name: str, model: Model, asked: Sequence[Benchmark], store: Store, prices: Path | None
) -> str | None:
    """What is about to be asked and what it will likely cost, in words; None if it is free."""
    price = price_of(model.name, prices)
    left = [
        sample
        for benchmark in asked
        for sample in missing_samples(benchmark, model, store, benchmark.samples)
    ]
    costs = [likely_cost(price, model, sample.clip.duration_s) for sample in left]
    total = sum(cost or 0.0 for cost in costs)
    if not left or (price is not None and not total):
        return None
    cost = "cost unknown" if price is None else f"about ${total:.2f}"
    return f"{name}: {len(left):,} questions about pairs, {cost}"


def create_pairwise(name: str, settings: TrialSettings | None = None) -> PairwiseScorer:
    """Make the scorer that asks a model to compare captions.

    Args:
        name: A model's name, as ``audiocapbench models`` lists it; ``NAME[audio=no]`` asks without
            the clips, which shows what the words alone give away.
        settings: What the user says about the trial.

    Raises:
        TrialError: The prompt, the folder of clips or an option is wrong.
        ModelError: There is no such model, or it cannot be asked here.
    """
    settings = settings or TrialSettings()
    found = _NAME.fullmatch(name.strip())
    if found is None or found["audio"] not in (None, "yes", "no"):
        raise TrialError(f"{name!r}: audio is yes or no; write MODEL or MODEL[audio=no]")
    prompt = (
        named_prompt(settings.prompt)
        if settings.prompt_file is None
        else prompt_from(settings.prompt_file)
    )
    model = create_model(found["model"])
    if found["audio"] == "no":
        model = without_audio(model)
    reader = create_reader(settings.reader) if settings.reader is not None else None
    return PairwiseScorer(model, prompt, settings, reader, name=f"model:{name.strip()}")
