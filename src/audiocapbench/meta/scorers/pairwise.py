"""Models that hear a clip and choose between two captions of it, asked through the engine.

Answers are kept in the store: what was answered is never asked again. With ``swap`` every pair is
also asked with its captions in the other order; the choice stays that of the published order.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from audiocapbench.benchmarks import Benchmark
from audiocapbench.benchmarks.benchmark import TRIAL
from audiocapbench.data import MissingClip, Sample
from audiocapbench.data.outcome import Outcome, Status
from audiocapbench.engine import Preview, find_run
from audiocapbench.errors import AudioCapBenchError, TrialError
from audiocapbench.meta.answers.likely import LIKELY_RULES, GradedChoice
from audiocapbench.meta.answers.parser import RULES
from audiocapbench.meta.pairs import CaptionPair, Pairs
from audiocapbench.meta.scorers import prompts
from audiocapbench.meta.scorers import scorer as scorers
from audiocapbench.meta.scorers.scorer import Choice, Diagnostics, PairScorer, TrialSettings
from audiocapbench.models import ModelSettings, create_model
from audiocapbench.models.model import without_audio
from audiocapbench.models.replies import without_thoughts
from audiocapbench.signature import sign

_NAME = re.compile(r"(?P<model>.+?)(?:\[(?:audio|read)=(?P<option>\w+)\])?", re.DOTALL)
_ANSWERED = frozenset({Status.OK, Status.EMPTY, Status.TRUNCATED})


class OrderChoices(NamedTuple):
    """One order: choices and how each was found, failures by status, and what was read how."""

    found: list[GradedChoice]
    failures: Counter[str]
    reading: Mapping[str, int]


class PairwiseScorer(PairScorer):
    """A model that compares; ``NAME[audio=no]`` shows what words give away without the clips."""

    sees_both = True

    def __init__(self, name: str, settings: TrialSettings) -> None:
        found = _NAME.fullmatch(name.strip())
        if found is None or found["option"] not in (None, "yes", "no"):
            raise TrialError(f"{name!r}: audio is yes or no; write MODEL or MODEL[audio=no]")
        file, form, chosen = settings.prompt_file, settings.answer, settings.prompt or "simple"
        prompt = (
            prompts.named_prompt(chosen, form) if file is None else prompts.prompt_from(file, form)
        )
        model_settings = ModelSettings(timeout=settings.timeout)
        model = prompt.held_to_form(create_model(found["model"], model_settings))
        model = without_audio(model) if found["option"] == "no" else model
        reader, reads_all, reading = None, settings.read == "all", "none"
        if settings.reader is not None:
            text = settings.reader.strip()
            if text in ("all", "uncertain"):
                raise TrialError(f"--reader names a model: write --reader MODEL --read {text}")
            found = _NAME.fullmatch(text)
            if found is None or found["option"] not in (None, "all", "unknown"):
                raise TrialError(f"{text!r} is not a reader; write MODEL, and --read all beside it")
            reads_all = reads_all or found["option"] == "all"
            reader = without_audio(create_model(found["model"], model_settings))
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
            **({"headline": LIKELY_RULES} if form == "text" else {}),
            reader=reading,
        )

    def choose(self, pairs: Pairs) -> Sequence[Choice]:
        return [one.choice for one in self._orders(pairs)[0].found]

    def choose_swapped(self, pairs: Pairs) -> Sequence[Choice]:
        if not self._settings.swap:
            raise TrialError(f"{self.name} was asked in one order only; ask with --swap")
        return [one.choice.swapped for one in self._orders(pairs)[1].found]

    def diagnostics(self, pairs: Pairs, _headline: str, _measure: scorers.Measure) -> Diagnostics:
        """How answers were read, and why there are none, in all orders together."""
        orders = self._orders(pairs)
        failures = sum((order.failures for order in orders), Counter[str]())
        reading = {name: sum(one.reading[name] for one in orders) for name in orders[0].reading}
        notes = []
        if failures:
            kinds = ", ".join(f"{count} {status}" for status, count in failures.items())
            notes.append(f"questions without an answer: {kinds}")
        if reading["read"]:
            notes.append(
                f"answers read by the reader: {reading['read']}, decided "
                f"{reading['read_decided']}, unusable replies {reading['read_unusable']}"
            )
        asked = {"orders": len(orders), "asked": len(pairs) * len(orders)}
        data = {"prompt": self._prompt.name, **asked, "failures": dict(failures), **reading}
        columns = {"reading": [one.grade for one in orders[0].found]}
        return Diagnostics(tuple(notes), data, failures.total(), columns)

    def how_to_settle(self, pairs: Pairs) -> str:
        name, settings = self.name.removeprefix("model:"), self._settings
        itself = replace(settings, reader=self._model.name, read=None)
        *_, reading = PairwiseScorer(name, itself).preview(pairs)
        ways = [f"--reader MODEL (by the model itself {reading.what}, {reading.cost})"]
        for form in ("logprobs", "schema"):
            try:
                asked = PairwiseScorer(name, replace(settings, answer=form, reader=None, read=None))
            except AudioCapBenchError:
                continue  # this provider takes no such option
            (again,) = asked.preview(pairs)
            ways.insert(0, f"--answer {form} ({again.what}, {again.cost})")
        return " or ".join(ways)

    def _orders(self, pairs: Pairs) -> list[OrderChoices]:
        key = tuple(pairs)
        if self._known is None or self._known[0] != key:
            self._known = (key, [self._read(*both) for both in self._asked(key)])
        return self._known[1]

    def _asked(self, pairs: Pairs) -> list[tuple[Pairs, Benchmark]]:
        """Pairs in each order that it is asked in, and a benchmark that asks about each so."""
        clips = scorers.trial_clips(pairs, self._settings, self.name, hears=self._hears)
        asked = []
        for order in ("as it stands", "swapped") if self._settings.swap else ("as it stands",):
            shown = [pair.swapped() for pair in pairs] if order == "swapped" else pairs
            samples, missing = [], []
            for position, pair in enumerate(shown):
                if pair.clip in clips:
                    question, texts = self._prompt.ask(pair), (pair.first, pair.second)
                    about = (pair.type, position, {"order": order})
                    samples.append(Sample(pair.id, clips[pair.clip], question, texts, *about))
                else:
                    why = "no such clip"
                    missing.append(MissingClip(id=pair.id, reason=why, file_name=pair.audio))
            name = f"{TRIAL}pairwise/{self._prompt.name}" + "/swapped" * (order == "swapped")
            name += "" if self._hears else scorers.WITHOUT_CLIPS
            name += "" if self._prompt.form == "text" else f"/{self._prompt.form}"
            root = (self._hears and self._settings.data) or Path()
            questions = Benchmark(name, root, tuple(samples), tuple(missing), kind="trial")
            asked.append((shown, questions))
        return asked

    def preview(self, pairs: Pairs) -> list[Preview]:
        asked, preview, reader = self._asked(pairs), self._settings.preview, self._reader
        questions = [one for _, one in asked if one.samples]
        found = [preview(questions, self._model, self.name, "{} questions about pairs")]
        if reader is not None:
            unread = [self._reading(*both) for both in asked]
            who = f"reader {reader.name}"
            found.append(preview(unread, reader, who, "at most {} answers to read"))
        return found

    def _reading(self, pairs: Pairs, benchmark: Benchmark) -> Benchmark:
        """What a reader will be asked at most: about what is unclear, and what is not answered."""
        store = self._settings.store
        run, missing = find_run(benchmark, self._model, store, benchmark.samples)
        left = {one.id for one in missing}
        outcomes = {} if run is None else store.outcomes(run.id)
        *_, unread = self._parse([pair for pair in pairs if pair.id not in left], outcomes)
        unread += [(pair, "") for pair in pairs if pair.id in left]
        return prompts.reading_questions(unread, self._prompt.labels, benchmark.name)

    def _read(self, pairs: Pairs, benchmark: Benchmark) -> OrderChoices:
        settings, reader = self._settings, self._reader
        asked = settings.ask(benchmark, self._model, self.name) if benchmark.samples else {}
        found, failures, unread = self._parse(pairs, asked)
        answered = len(found) - failures.total()
        certain = any(one.grade == "certain" for one in found)
        if self._prompt.form != "text" and answered and not certain:
            raise TrialError(
                f"{self.name} answered {answered:,} questions and none of them in the form "
                f"of --answer {self._prompt.form}: its server may not know it; use --answer text"
            )
        replies: Mapping[str, Outcome] = {}
        if reader is not None and unread:
            questions = prompts.reading_questions(unread, self._prompt.labels, benchmark.name)
            replies = settings.ask(questions, reader, f"reader {reader.name}")
        # A reply that is no word of ours leaves what the parser found.
        told = ((key, one.reply) for key, one in replies.items())
        read = {key: prompts.read_word(one.text) for key, one in told if one.status is Status.OK}
        words = {key: word for key, word in read.items() if word is not None}
        for place, pair in enumerate(pairs):
            if pair.id in words:
                found[place] = GradedChoice.of(words[pair.id], "read")
        grades = Counter(one.grade for one in found)
        reading = {
            "certain": grades["certain"],
            "likely": grades["likely"],
            "read": len(unread),
            "read_decided": grades["read"],
            "read_unusable": len(unread) - len(words),
        }
        return OrderChoices(found, failures, reading)

    def _parse(
        self, pairs: Pairs, outcomes: Mapping[str, Outcome]
    ) -> tuple[list[GradedChoice], Counter[str], list[tuple[CaptionPair, str]]]:
        """Choices that are found in answers, why there is none, and what is left to a reader."""
        found: list[GradedChoice] = []
        failures, unread = Counter[str](), []
        for pair in pairs:
            outcome = outcomes.get(pair.id)
            if outcome is None or outcome.reply.status not in _ANSWERED:
                failures["no clip" if outcome is None else str(outcome.reply.status)] += 1
                found.append(GradedChoice(Choice.UNKNOWN, "missing"))
                continue
            found.append(self._prompt.read(outcome.reply, pair))
            text = without_thoughts(outcome.reply.text) or ""
            wanted = self._reads_all or found[-1].grade != "certain"
            if self._reader is not None and wanted and text.strip():
                unread.append((pair, text))
        return found, failures, unread
