"""Models that hear a clip and choose between two captions of it, asked through the engine.

Answers are kept in the store like those of any run: what was answered is never asked again. With
``swap`` every pair is also asked with its captions in the other order; the choice stays that of the
order that is published.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from audiocapbench.benchmarks import Benchmark
from audiocapbench.benchmarks.benchmark import TRIAL
from audiocapbench.data import Clip, MissingClip, Sample
from audiocapbench.data.outcome import Outcome, Status
from audiocapbench.engine import Preview, find_run, missing_samples
from audiocapbench.errors import TrialError
from audiocapbench.judges.contract import as_data, fill
from audiocapbench.meta.answers.marks import Labels
from audiocapbench.meta.answers.parser import RULES, ends_of
from audiocapbench.meta.pairs.pair import CaptionPair
from audiocapbench.meta.pairwise.prompts import document, named_prompt, prompt_from
from audiocapbench.meta.scorers.scorer import (
    WITHOUT_CLIPS,
    Choice,
    Diagnostics,
    FloatArray,
    Measure,
    PairScorer,
    TrialSettings,
    trial_clips,
)
from audiocapbench.meta.trial import CHOSEN, agreeing
from audiocapbench.models import ModelSettings, create_model
from audiocapbench.models.model import without_audio
from audiocapbench.models.replies import without_thoughts
from audiocapbench.signature import sign
from audiocapbench.stats import mean_interval

_OPTION = re.compile(r"(?P<model>.+?)(?:\[read=(?P<read>\w+)\])?", re.DOTALL)
_NAME = re.compile(r"(?P<model>.+?)(?:\[audio=(?P<audio>\w+)\])?", re.DOTALL)
_WORDS = {str(choice.value): choice for choice in Choice}
_LONGEST_ANSWER = 6_000
_NO_CLIP = "no clip"  # stands among statuses for a pair whose clip is not there
_NOTHING_READ = dict.fromkeys(("certain", "read", "read_decided", "read_unusable"), 0)
_ANSWERED = frozenset({Status.OK, Status.EMPTY, Status.TRUNCATED})


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


def read_word(reply: str) -> Choice | None:
    """The choice of a reply of one word; None where it is anything else."""
    return _WORDS.get((without_thoughts(reply) or "").strip().strip("\"'“”*`.").strip().casefold())


class OrderChoices(NamedTuple):
    """One order: choices, failures by status, and answers that parser and reader could read."""

    choices: list[Choice]
    failures: Counter[str]
    reading: Mapping[str, int]


def _shown(share: Mapping[str, Any]) -> str:
    if share["value"] is None:
        return "– (nothing to count)"
    text = f"{100 * share['value']:.1f} %"
    if share["interval"] is not None:
        low, high = share["interval"]
        text += f" ({100 * low:.1f}–{100 * high:.1f})"
    return f"{text} of {share['count']:,}"


def _share(statistics: FloatArray, clips: Sequence[str]) -> dict[str, Any]:
    """The share of hits: each row is what a pair adds to the hits, and to what they are among."""
    hits, count = statistics.sum(axis=0)
    interval = (
        mean_interval(
            statistics,
            lambda means: means[..., 0] / np.maximum(means[..., 1], 1e-12),
            clusters=clips,
            bounds=(0.0, 1.0),
            share=True,
            most=float(count),
        )
        if count
        else None
    )
    value = float(hits / count) if count else None
    return {"value": value, "count": int(count), "interval": interval}


class PairwiseScorer(PairScorer):
    """A model, as ``audiocapbench models`` names it, that compares; a reader reads what is unclear.

    ``NAME[audio=no]`` asks without the clips, which shows what the words alone give away.
    """

    sees_both = True

    def __init__(self, name: str, settings: TrialSettings) -> None:
        found = _NAME.fullmatch(name.strip())
        if found is None or found["audio"] not in (None, "yes", "no"):
            raise TrialError(f"{name!r}: audio is yes or no; write MODEL or MODEL[audio=no]")
        file, form = settings.prompt_file, settings.answer
        chosen = settings.prompt or "simple"
        prompt = named_prompt(chosen, form) if file is None else prompt_from(file, form)
        model_settings = ModelSettings(timeout=settings.timeout)
        model = prompt.held_to_form(create_model(found["model"], model_settings))
        model = without_audio(model) if found["audio"] == "no" else model
        reader, reads_all, reading = None, settings.read == "all", "none"
        if settings.reader is not None:
            text = settings.reader.strip()
            if text in ("all", "uncertain"):
                raise TrialError(f"--reader names a model: write --reader MODEL --read {text}")
            option = _OPTION.fullmatch(text)
            if option is None or option["read"] not in (None, "all", "unknown"):
                raise TrialError(f"{text!r} is not a reader; write MODEL, and --read all beside it")
            reads_all = reads_all or option["read"] == "all"
            reader = without_audio(create_model(option["model"], model_settings))
            reading = f"{reader.name}+{'all' if reads_all else 'unknown'}"
        self.name = f"model:{name.strip()}"
        self._hears = model.contract.container != "none"
        if self._hears:
            settings.folder(self.name, f", or write {self.name}[audio=no] to ask without them")
        self._model, self._prompt, self._settings = model, prompt, settings
        self._reader, self._reads_all = reader, reads_all
        self._known: tuple[tuple[CaptionPair, ...], list[OrderChoices]] | None = None
        parameters = {f"model.{key}": value for key, value in model.parameters.items()}
        self.signature = sign(
            "pairwise",
            protocol=1,
            model=model.name,
            **dict(sorted(parameters.items())),
            prompt=f"{prompt.name}-{prompt.hash}",
            orders=2 if settings.swap else 1,
            **({} if form == "text" else {"answer": form}),
            parser=RULES,
            reader=reading,
        )

    def choose(self, pairs: Sequence[CaptionPair]) -> Sequence[Choice]:
        return self._orders(pairs)[0].choices

    def choose_swapped(self, pairs: Sequence[CaptionPair]) -> Sequence[Choice]:
        if not self._settings.swap:
            raise TrialError(f"{self.name} was asked in one order only; ask with --swap")
        return [choice.swapped for choice in self._orders(pairs)[1].choices]

    def diagnostics(
        self, pairs: Sequence[CaptionPair], _headline: str, _measure: Measure
    ) -> Diagnostics:
        """Position bias, consistency and what went unread, in all orders together.

        ``first_position`` is the share of the caption that stood first among answers that chose
        one: in both orders together a judge without position bias is at one half; in one order
        alone it says nothing of bias. ``unknown`` has questions that failed among them.
        """
        orders, clips = self._orders(pairs), [pair.clip for pair in pairs]
        choices = [order.choices for order in orders]

        def share(hits: Sequence[Choice], among: Sequence[Choice]) -> dict[str, Any]:
            both = [
                [[one in wanted for one in order] for order in choices] for wanted in (hits, among)
            ]
            return _share(np.array(both, dtype=np.float64).sum(axis=1).T, clips)

        first, unknown = share([Choice.FIRST], CHOSEN), share([Choice.UNKNOWN], tuple(Choice))
        notes = [f"the caption shown first is chosen {_shown(first)}"]
        consistency = None
        if len(orders) > 1:
            same = agreeing(choices[0], [choice.swapped for choice in choices[1]])
            table = np.stack([np.array(same, dtype=np.float64), np.ones(len(pairs))], axis=1)
            consistency = _share(table, clips)
            notes[0] = f"position bias: {notes[0]}"
            notes.append(f"the same answer in both orders: {_shown(consistency)}")
        counted = Counter(choice for order in choices for choice in order)
        failures = sum((order.failures for order in orders), Counter[str]())
        reading = {name: sum(one.reading[name] for one in orders) for name in _NOTHING_READ}
        read = f"{reading['read_decided']:,} read by the reader, " if reading["read"] else ""
        answers = f"{reading['certain']:,} certain, {read}{counted[Choice.UNKNOWN]:,} unknown"
        notes += [f"no readable choice: {_shown(unknown)}", f"answers: {answers}"]
        if failures:
            kinds = ", ".join(f"{count} {status}" for status, count in failures.items())
            notes.append(f"questions without an answer: {kinds}")
        if reading["read"]:
            notes.append(
                f"answers read by the reader: {reading['read']}, decided "
                f"{reading['read_decided']}, unusable replies {reading['read_unusable']}"
            )
        data = {
            "prompt": self._prompt.name,
            "orders": len(orders),
            "asked": len(pairs) * len(orders),
            "first_position": first,
            "consistency": consistency,
            "unknown": unknown,
            "positions": {choice.name.lower(): counted[choice] for choice in Choice},
            "failures": dict(failures),
            **reading,
        }
        return Diagnostics(tuple(notes), data, failures.total())

    def _orders(self, pairs: Sequence[CaptionPair]) -> list[OrderChoices]:
        key = tuple(pairs)
        if self._known is None or self._known[0] != key:
            self._known = (key, [self._read(*both) for both in self._asked(key)])
        return self._known[1]

    def _asked(self, pairs: Sequence[CaptionPair]) -> list[tuple[Sequence[CaptionPair], Benchmark]]:
        """Pairs in each order that it is asked in, and a benchmark that asks about each so."""
        clips = trial_clips(pairs, self._settings, self.name, hears=self._hears)
        orders: dict[str, Sequence[CaptionPair]] = {"as it stands": pairs}
        if self._settings.swap:
            orders["swapped"] = [pair.swapped() for pair in pairs]
        asked = []
        for order, shown in orders.items():
            samples, missing = [], []
            for position, pair in enumerate(shown):
                if pair.clip in clips:
                    question, texts = self._prompt.ask(pair), (pair.first, pair.second)
                    about = (pair.type, position, {"order": order})
                    samples.append(Sample(pair.id, clips[pair.clip], question, texts, *about))
                else:
                    why = "no such clip"
                    missing.append(MissingClip(id=pair.id, reason=why, file_name=pair.audio))
            name = f"{TRIAL}pairwise/{self._prompt.name}{'/swapped' if order == 'swapped' else ''}"
            name += "" if self._hears else WITHOUT_CLIPS
            name += "" if self._prompt.form == "text" else f"/{self._prompt.form}"
            root = (self._hears and self._settings.data) or Path()
            questions = Benchmark(name, root, tuple(samples), tuple(missing), kind="trial")
            asked.append((shown, questions))
        return asked

    def preview(self, pairs: Sequence[CaptionPair]) -> list[Preview]:
        settings, asked = self._settings, self._asked(pairs)
        questions = [one for _, one in asked if one.samples]
        found = [settings.preview(questions, self._model, self.name, "{} questions about pairs")]
        if self._reader is not None:
            who = f"reader {self._reader.name}"
            unread = [self._reading(*both) for both in asked]
            what = "at most {} answers to read"
            found.append(settings.preview(unread, self._reader, who, what))
        return found

    def _reading(self, pairs: Sequence[CaptionPair], benchmark: Benchmark) -> Benchmark:
        """What a reader will be asked at most: about what is unclear, and what is not answered."""
        asked = (benchmark, self._model, self._settings.store, benchmark.samples)
        run, left = find_run(*asked), {one.id for one in missing_samples(*asked)}
        outcomes = {} if run is None else self._settings.store.outcomes(run.id)
        answered = [pair for pair in pairs if pair.id not in left]
        _, _, unread = self._parse(answered, outcomes)
        unread += [(pair, "") for pair in pairs if pair.id in left]
        return reading_questions(unread, self._prompt.labels, benchmark.name)

    def _read(self, pairs: Sequence[CaptionPair], benchmark: Benchmark) -> OrderChoices:
        if not benchmark.samples:
            return OrderChoices([], Counter(), _NOTHING_READ)
        outcomes = self._settings.ask(benchmark, self._model, self.name)
        choices, failures, unread = self._parse(pairs, outcomes)
        answered = len(choices) - failures.total()
        certain = sum(one is not Choice.UNKNOWN for one in choices)
        reading = _NOTHING_READ | {"certain": certain}
        if self._prompt.form != "text" and answered and not certain:
            raise TrialError(
                f"{self.name} answered {answered:,} questions and none of them in the form "
                f"of --answer {self._prompt.form}: its server may not know it; use --answer text"
            )
        reader = self._reader
        if reader is None or not unread:
            return OrderChoices(choices, failures, reading)
        questions = reading_questions(unread, self._prompt.labels, benchmark.name)
        replies = self._settings.ask(questions, reader, f"reader {reader.name}")
        words = {
            key: read_word(one.reply.text) if one.reply.status is Status.OK else None
            for key, one in replies.items()
        }
        # A reply that is no word of ours leaves what the parser found.
        found = [words.get(pair.id) or own for pair, own in zip(pairs, choices, strict=True)]
        usable = [word for word in words.values() if word is not None]
        reading = {
            "certain": certain - (len(usable) if self._reads_all else 0),
            "read": len(unread),
            "read_decided": sum(word is not Choice.UNKNOWN for word in usable),
            "read_unusable": len(unread) - len(usable),
        }
        return OrderChoices(found, failures, reading)

    def _parse(
        self, pairs: Sequence[CaptionPair], outcomes: Mapping[str, Outcome]
    ) -> tuple[list[Choice], Counter[str], list[tuple[CaptionPair, str]]]:
        """Choices that the parser finds, why there is none, and what is left to a reader."""
        choices: list[Choice] = []
        failures, unread = Counter[str](), []
        for pair in pairs:
            outcome = outcomes.get(pair.id)
            if outcome is None or outcome.reply.status not in _ANSWERED:
                failures[_NO_CLIP if outcome is None else str(outcome.reply.status)] += 1
                choices.append(Choice.UNKNOWN)
                continue
            choices.append(self._prompt.read(outcome.reply, pair))
            text = without_thoughts(outcome.reply.text) or ""
            wanted = self._reads_all or choices[-1] is Choice.UNKNOWN
            if self._reader is not None and wanted and text.strip():
                unread.append((pair, text))
        return choices, failures, unread
