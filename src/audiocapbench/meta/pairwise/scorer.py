"""Models that hear a clip and choose between two captions of it, asked through the engine.

Answers are kept in the store like those of any run: what was answered is never asked again. With
``swap`` every pair is also asked with its captions in the other order; the choice stays that of the
order that is published.
"""

import json
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from audiocapbench.benchmarks import Benchmark
from audiocapbench.benchmarks.benchmark import TRIAL
from audiocapbench.data import Clip, MissingClip, Sample
from audiocapbench.data.outcome import Outcome, Reply, Status
from audiocapbench.engine import Preview, find_run, missing_samples
from audiocapbench.errors import ReplyError, TrialError
from audiocapbench.judges.quoting import as_data, fill
from audiocapbench.judges.reply_json import whole_object
from audiocapbench.meta.answers.marks import Labels
from audiocapbench.meta.answers.parser import RULES, ends_of, read_answer
from audiocapbench.meta.pairs.pair import CaptionPair
from audiocapbench.meta.pairwise.diagnostics import OrderChoices, PairwiseDiagnostics, diagnose
from audiocapbench.meta.pairwise.prompts import PairwisePrompt, document, named_prompt, prompt_from
from audiocapbench.meta.scorers.scorer import (
    WITHOUT_CLIPS,
    Choice,
    Diagnostics,
    Measure,
    PairScorer,
    TrialSettings,
    trial_clips,
)
from audiocapbench.models import Model, ModelSettings, create_model
from audiocapbench.models.model import OptionsModel, without_audio
from audiocapbench.models.thoughts import without_thoughts
from audiocapbench.signature import Signature, sign

_OPTION = re.compile(r"(?P<model>.+?)(?:\[read=(?P<read>\w+)\])?", re.DOTALL)
_WORDS = {str(choice.value): choice for choice in Choice}
_LONGEST_ANSWER = 6_000


class AnswerReader(NamedTuple):
    """A model that reads every answer, or only those that the parser cannot; it hears nothing."""

    model: Model
    reads_all: bool = False


def reading_questions(
    unread: Sequence[tuple[CaptionPair, str]], labels: Labels, name: str
) -> Benchmark:
    """What a reader is asked about pairs and the answers to them, of the run of this name."""
    template = "\n".join(document()["reader"])
    samples = []
    for position, (pair, answer) in enumerate(unread):
        instruction = fill(
            template,
            first_label=f"“{labels.first}”",
            second_label=f"“{labels.second}”",
            first=as_data(pair.first),
            second=as_data(pair.second),
            answer=as_data(ends_of(answer, _LONGEST_ANSWER, " … ")),
        )
        clip = Clip(Path(pair.id), pair.id, "0" * 64, 0.0, 0, 1)
        said = (answer or "nothing",)
        samples.append(Sample(pair.id, clip, instruction, said, "reading", position))
    full = f"{TRIAL}reading/{name.removeprefix(TRIAL)}"
    return Benchmark(full, Path(), tuple(samples), kind="trial")


def create_reader(text: str, read: str = "uncertain", timeout: float | None = None) -> AnswerReader:
    """Make the reader of a model's name; ``MODEL[read=all]`` reads everything too."""
    if text.strip() in ("all", "uncertain"):
        raise TrialError(f"--reader names a model: write --reader MODEL --read {text.strip()}")
    found = _OPTION.fullmatch(text.strip())
    if found is None or found["read"] not in (None, "all", "unknown"):
        raise TrialError(f"{text!r} is not a reader; write MODEL, and --read all beside it")
    reads_all = "all" in (found["read"], read)
    model = create_model(found["model"], ModelSettings(timeout=timeout))
    return AnswerReader(without_audio(model), reads_all)


def read_word(reply: str) -> Choice | None:
    """The choice of a reply of one word; None where it is anything else."""
    return _WORDS.get((without_thoughts(reply) or "").strip().strip("\"'“”*`.").strip().casefold())


AnswerForm = Literal["text", "schema", "logprobs"]

_TOP = 20


def in_form(model: Model, form: AnswerForm, labels: Labels) -> Model:
    """The model as it is asked in a form.

    Raises:
        TrialError: It cannot be asked so.
    """
    if form == "text":
        return model
    if not isinstance(model, OptionsModel):
        raise TrialError(
            f"{model.name} cannot be asked with --answer {form}: its provider takes no such option "
            "of a request; use --answer text"
        )
    if form == "logprobs":
        return model.with_options({"logprobs": True, "top_logprobs": _TOP}, most_tokens=1)
    choice = {"type": "string", "enum": list(_meanings(labels))}
    schema = {
        "type": "object",
        "properties": {"choice": choice},
        "required": ["choice"],
        "additionalProperties": False,
    }
    wanted = {"name": "choice", "schema": schema, "strict": True}
    return model.with_options({"response_format": {"type": "json_schema", "json_schema": wanted}})


def instruction_in(form: AnswerForm, labels: Labels) -> str:
    """What follows the prompt, so that the form is asked for in words too."""
    letters = " or ".join(_meanings(labels))
    if form == "schema":
        return f'\n\nAnswer with JSON and nothing else: {{"choice": …}}, which is {letters}.'
    return f"\n\nAnswer with one character and nothing else: {letters}." * (form == "logprobs")


def read_reply(reply: Reply, pair: CaptionPair, form: AnswerForm, labels: Labels) -> Choice:
    """The choice of a reply in the form that was asked for; unknown where it is not certain."""
    text = without_thoughts(reply.text) or ""
    if form == "text":
        return read_answer(text, pair.first, pair.second, labels)
    if form == "logprobs":
        return _likeliest(reply.raw or "", labels)
    try:
        values = whole_object(text.strip().removeprefix("```json").strip("`\n "))
    except ReplyError:
        return Choice.UNKNOWN
    return _meanings(labels).get(str(values.get("choice")).strip().upper(), Choice.UNKNOWN)


def _meanings(labels: Labels) -> dict[str, Choice]:
    known = {labels.first: Choice.FIRST, labels.second: Choice.SECOND}
    return known if labels.tie is None else {**known, labels.tie: Choice.TIE}


def _likeliest(raw: str, labels: Labels) -> Choice:
    """The label whose token is the likeliest; both alike are a tie, and none is unknown."""
    try:
        first: Any = json.loads(raw)["choices"][0]["logprobs"]["content"][0]["top_logprobs"]
        likely = [(str(one["token"]), math.exp(float(one["logprob"]))) for one in first]
    except (ValueError, LookupError, TypeError):
        return Choice.UNKNOWN
    known = _meanings(labels)
    shares = dict.fromkeys(known.values(), 0.0)
    for token, share in likely:
        choice = known.get(token.strip(" \n.()*\"'").upper())
        if choice is not None:
            shares[choice] += share
    best, *others = sorted(shares, key=lambda choice: -shares[choice])
    if not shares[best]:
        return Choice.UNKNOWN
    return Choice.TIE if shares[best] == shares[others[0]] else best


NO_CLIP = "no clip"
"""Stands among statuses for a pair that could not be asked because its clip is not there."""

_ANSWERED = frozenset({Status.OK, Status.EMPTY, Status.TRUNCATED})
_NAME = re.compile(r"(?P<model>.+?)(?:\[audio=(?P<audio>\w+)\])?", re.DOTALL)


class _ParserResult(NamedTuple):
    """What the parser finds in answers, why there is none, and what is left to a reader."""

    choices: list[Choice]
    failures: Counter[str]
    unread: list[tuple[CaptionPair, str]]


class PairwiseScorer(PairScorer):
    """A model of the models room as a judge of pairs; a reader reads what the parser cannot."""

    sees_both = True

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
                f"{name} hears the clips: say with `data` in which folder they are, or write "
                f"{name}[audio=no] to ask without them"
            )
        self.name = name
        self._model = model
        self._prompt = prompt
        self._settings = settings
        self._reader = reader
        self._known: tuple[tuple[CaptionPair, ...], list[OrderChoices]] | None = None
        self.signature = self._sign()

    def _sign(self) -> Signature:
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
            **({} if self._settings.answer == "text" else {"answer": self._settings.answer}),
            parser=RULES,
            reader=reader,
        )

    def choose(self, pairs: Sequence[CaptionPair]) -> Sequence[Choice]:
        """Its choices with the captions in their own order, as published.

        Raises:
            AudioCapBenchError: No clip is there, a prompt shows references that a pair has not, or
                the model is not asked to the end; answers are kept.
        """
        return self._orders(pairs)[0].choices

    def choose_swapped(self, pairs: Sequence[CaptionPair]) -> Sequence[Choice]:
        """Its choices when the captions change places, for the pairs as they stand."""
        if not self._settings.swap:
            raise TrialError(f"{self.name} was asked in one order only; ask with --swap")
        return [choice.swapped for choice in self._orders(pairs)[1].choices]

    def detail(self, pairs: Sequence[CaptionPair]) -> PairwiseDiagnostics:
        """Position bias, consistency and what went unread, for pairs that it has chosen of."""
        return diagnose(pairs, self._orders(pairs), prompt=self._prompt.name)

    def diagnostics(
        self, pairs: Sequence[CaptionPair], _headline: str, _measure: Measure
    ) -> Diagnostics:
        """The same in words and as plain data."""
        detail = self.detail(pairs)
        failed = sum(detail.failures.values())
        return Diagnostics(tuple(detail.lines()), detail.document(), failed)

    def _orders(self, pairs: Sequence[CaptionPair]) -> list[OrderChoices]:
        """What it said in each order that it is asked in."""
        key = tuple(pairs)
        if self._known is None or self._known[0] != key:
            self._known = (key, [self._read(*both) for both in self._asked(key)])
        return self._known[1]

    def _asked(self, pairs: Sequence[CaptionPair]) -> list[tuple[Sequence[CaptionPair], Benchmark]]:
        """Pairs in each order that it is asked in, and what it is asked."""
        clips = trial_clips(pairs, self._settings, self.name, hears=self._hears)
        shown = [pairs, [pair.swapped() for pair in pairs]][: 1 + self._settings.swap]
        return [
            (order, self._questions(order, clips, place == 1)) for place, order in enumerate(shown)
        ]

    def _questions(
        self, pairs: Sequence[CaptionPair], clips: Mapping[str, Clip], swapped: bool
    ) -> Benchmark:
        """Pairs as a benchmark: every sample asks about a pair in the order that it stands in."""
        samples, missing = [], []
        form = self._settings.answer
        for position, pair in enumerate(pairs):
            if pair.clip not in clips:
                missing.append(MissingClip(id=pair.id, reason="no such clip", file_name=pair.audio))
                continue
            asked = self._prompt.ask(pair) + instruction_in(form, self._prompt.labels)
            captions = (pair.first, pair.second)
            clip, order = clips[pair.clip], {"order": "swapped" if swapped else "as it stands"}
            samples.append(Sample(pair.id, clip, asked, captions, pair.type, position, order))
        name = f"{TRIAL}pairwise/{self._prompt.name}{'/swapped' if swapped else ''}"
        root = (self._hears and self._settings.data) or Path()
        heard = "" if self._hears else WITHOUT_CLIPS
        heard += "" if form == "text" else f"/{form}"
        return Benchmark(f"{name}{heard}", root, tuple(samples), tuple(missing), kind="trial")

    def preview(self, pairs: Sequence[CaptionPair]) -> list[Preview]:
        """What the model will be asked, and the reader, were no answer clear."""
        settings, asked = self._settings, self._asked(pairs)
        questions = [one for _, one in asked if one.samples]
        found = [settings.preview(questions, self._model, self.name, "{} questions about pairs")]
        if self._reader is not None:
            who = f"reader {self._reader.model.name}"
            unread = [self._reading(*both) for both in asked]
            what = "at most {} answers to read"
            found.append(settings.preview(unread, self._reader.model, who, what))
        return found

    def _reading(self, pairs: Sequence[CaptionPair], benchmark: Benchmark) -> Benchmark:
        """What a reader will be asked at most: about what is unclear, and what is not answered."""
        asked = (benchmark, self._model, self._settings.store, benchmark.samples)
        run, left = find_run(*asked), {one.id for one in missing_samples(*asked)}
        outcomes = {} if run is None else self._settings.store.outcomes(run.id)
        answered = [pair for pair in pairs if pair.id not in left]
        unread = self._parse(answered, outcomes).unread
        unread += [(pair, "") for pair in pairs if pair.id in left]
        return reading_questions(unread, self._prompt.labels, benchmark.name)

    def _read(self, pairs: Sequence[CaptionPair], benchmark: Benchmark) -> OrderChoices:
        if not benchmark.samples:
            return OrderChoices([], Counter())
        outcomes = self._settings.ask(benchmark, self._model, self.name)
        choices, failures, unread = self._parse(pairs, outcomes)
        answered = len(choices) - failures.total()
        certain = sum(one is not Choice.UNKNOWN for one in choices)
        if self._settings.answer != "text" and answered and not certain:
            form = self._settings.answer
            raise TrialError(
                f"{self.name} answered {answered:,} questions and none of them in the form "
                f"of --answer {form}: its server may not know it; use --answer text"
            )
        reader = self._reader
        if reader is None or not unread:
            return OrderChoices(choices, failures, certain)
        questions = reading_questions(unread, self._prompt.labels, benchmark.name)
        replies = self._settings.ask(questions, reader.model, f"reader {reader.model.name}")
        words = {
            key: read_word(one.reply.text) if one.reply.status is Status.OK else None
            for key, one in replies.items()
        }
        # A reply that is no word of ours leaves what the parser found.
        found = [words.get(pair.id) or own for pair, own in zip(pairs, choices, strict=True)]
        usable = [word for word in words.values() if word is not None]
        decided = sum(word is not Choice.UNKNOWN for word in usable)
        if reader.reads_all:
            certain -= len(usable)
        unusable = len(unread) - len(usable)
        return OrderChoices(found, failures, certain, len(unread), decided, unusable)

    def _parse(
        self, pairs: Sequence[CaptionPair], outcomes: Mapping[str, Outcome]
    ) -> _ParserResult:
        found = choices, failures, unread = _ParserResult([], Counter(), [])
        reader = self._reader
        for pair in pairs:
            outcome = outcomes.get(pair.id)
            if outcome is None or outcome.reply.status not in _ANSWERED:
                failures[NO_CLIP if outcome is None else str(outcome.reply.status)] += 1
                choices.append(Choice.UNKNOWN)
                continue
            text = without_thoughts(outcome.reply.text) or ""
            form = self._settings.answer
            choices.append(read_reply(outcome.reply, pair, form, self._prompt.labels))
            open_to_reader = choices[-1] is Choice.UNKNOWN
            for_reader = reader is not None and (reader.reads_all or open_to_reader)
            if for_reader and text.strip():
                unread.append((pair, text))
        return found


def create_pairwise(name: str, settings: TrialSettings | None = None) -> PairwiseScorer:
    """Make the scorer that asks a model, as ``audiocapbench models`` names it, to compare.

    ``NAME[audio=no]`` asks without the clips, which shows what the words alone give away.

    Raises:
        TrialError: The prompt, the folder of clips or an option is wrong.
        ModelError: There is no such model, or it cannot be asked here.
    """
    settings = settings or TrialSettings()
    found = _NAME.fullmatch(name.strip())
    if found is None or found["audio"] not in (None, "yes", "no"):
        raise TrialError(f"{name!r}: audio is yes or no; write MODEL or MODEL[audio=no]")
    file = settings.prompt_file
    prompt = named_prompt(settings.prompt) if file is None else prompt_from(file)
    made = create_model(found["model"], ModelSettings(timeout=settings.timeout))
    model = in_form(made, settings.answer, prompt.labels)
    if found["audio"] == "no":
        model = without_audio(model)
    reader = None
    if settings.reader is not None:
        reader = create_reader(settings.reader, settings.read, settings.timeout)
    return PairwiseScorer(model, prompt, settings, reader, name=f"model:{name.strip()}")
