"""A judge on trial, or a model that rates: every caption alone, and the higher score wins.

A model is asked through the store: captions become the answers of a run, so that what was judged
is kept, and a stopped trial goes on where it was.
"""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from audiocapbench.benchmarks import Benchmark
from audiocapbench.benchmarks.benchmark import TRIAL
from audiocapbench.data.outcome import Reply, Sample
from audiocapbench.engine import Preview, run_benchmark
from audiocapbench.errors import StoppedError, TrialError
from audiocapbench.files import digest
from audiocapbench.judges import create_judge, executor
from audiocapbench.judges.aggregation import by_judge, failure_reasons, failure_words
from audiocapbench.judges.contract import MAX_SCORE, JudgeInput, Verdict
from audiocapbench.judges.judge import ModelJudge, judge_texts
from audiocapbench.judges.published import AS_WRITTEN, AUDIOCAPBENCH, RATING
from audiocapbench.meta.pairs import Pairs, captions, references
from audiocapbench.meta.scorers import scorer as scorers
from audiocapbench.metrics.result import FloatArray
from audiocapbench.models import AudioContract, Question
from audiocapbench.models.model import SimpleModel
from audiocapbench.models.price import FREE
from audiocapbench.store import Run
from audiocapbench.store.records import overall_of

_CATEGORY = "sound"
_ASKED = "Describe what can be heard in the audio in one sentence."


class JudgeScorer(scorers.PointwiseScorer):
    """Scores captions with a judge: offline at once, a model through the store."""

    def __init__(
        self, name: str, settings: scorers.TrialSettings, contract: str = AUDIOCAPBENCH
    ) -> None:
        self._judge = create_judge(name, contract=contract, timeout=settings.timeout)
        self._listens = isinstance(self._judge, ModelJudge) and self._judge.contract.listens
        self._settings = settings
        self.name = f"judge:{self._judge.name}"
        self.signature = self._judge.signature.with_fields(trial="pointwise", compare="float32")

    def preview(self, pairs: Pairs) -> list[Preview]:
        if not isinstance(self._judge, ModelJudge):
            return []
        run = self._captions(pairs, self._judge)
        store, prices = self._settings.store, self._settings.prices
        missing = executor.missing_judgements(store, run, self._judge)
        return [executor.preview_judging(self._judge, missing, store=store, prices=prices)]

    def score(self, pairs: Pairs) -> tuple[FloatArray, FloatArray]:
        inputs = self._inputs(pairs)
        cases = {one.sample_id: one for one in inputs if one.references or self._listens}
        if not cases:
            raise self.no_references()
        if isinstance(self._judge, ModelJudge):
            scores = self._judged(self._judge, self._captions(pairs, self._judge))
        else:
            verdicts = zip(cases, judge_texts(self._judge, list(cases.values())), strict=True)
            scores = {key: one.overall for key, one in verdicts if isinstance(one, Verdict)}
        self.latest = self.latest._replace(failed=sum(key not in scores for key in cases))
        values = np.array([scores.get(one.sample_id, np.nan) for one in inputs])
        return values[: len(pairs)], values[len(pairs) :]

    def _captions(self, pairs: Pairs, judge: ModelJudge) -> Run:
        """The captions that can be judged, each once, as the answers of a run."""
        settings, samples, texts = self._settings, dict[str, Sample](), dict[str, str]()
        clips = scorers.trial_clips(pairs, settings, self.name, hears=judge.hears)
        for pair, case in zip([*pairs, *pairs], self._inputs(pairs), strict=True):
            key, known = case.sample_id, clips.get(pair.clip)
            usable = case.references or self._listens
            if usable and known is not None and key not in samples:
                about = (_ASKED, case.references, case.category, len(samples))
                samples[key], texts[key] = Sample(key, known, *about), case.prediction
        if not samples:
            raise self.no_references()
        name = f"{TRIAL}judge" + ("" if judge.hears else scorers.WITHOUT_CLIPS)
        asked = tuple(samples.values())
        benchmark = Benchmark(name, settings.data or Path(), asked, kind="trial")
        filled = run_benchmark(benchmark, _CaptionModel(texts), settings.store, price=FREE)
        if filled.stop is not None:
            raise StoppedError(f"{self.name} was stopped before it was asked", stop=filled.stop)
        return filled.run

    def _judged(self, judge: ModelJudge, run: Run) -> dict[str, float]:
        settings = self._settings
        how = settings.options(settings.watch(self.name, len(run.sample_ids)))
        end = executor.judge_run(settings.store, run, [judge], **how)
        for refusal in end.refusals:
            raise refusal
        if end.stop is not None:
            raise StoppedError(
                f"{self.name} was stopped: {end.stop.because(end.spending)}; what was judged is "
                f"kept in {settings.store.name}, and {end.stop.how_to_go_on}",
                stop=end.stop,
            )
        found = executor.judgements_by(settings.store, judge, run.id)
        why = failure_words(judge.name, failure_reasons(found), len(found))
        notes = [] if why is None else [why]
        if written := sum(one.error == AS_WRITTEN for one in found):
            notes.append(f"{written:,} of {len(found):,} ratings are digits as written")
            digits = "written" if written == len(found) else "expected+written"
            self.signature = self.signature.with_fields(digits=digits)
        self.latest = scorers.Diagnostics(tuple(notes))
        given = by_judge(found).get(judge.name, {})
        return {key: overall_of(own, judge.signature) for key, own in given.items()}

    def _inputs(self, pairs: Pairs) -> list[JudgeInput]:
        """What is judged: first captions, then second ones; clip and words alone name a caption."""
        inputs = []
        sides = zip([*pairs, *pairs], captions(pairs), references(pairs), strict=True)
        for pair, text, known in sides:
            held_to = () if self._listens else known
            key = digest(pair.clip, text, *held_to)[:24]
            inputs.append(JudgeInput(key, text, held_to, _CATEGORY))
        return inputs


class RateScorer(JudgeScorer):
    """A model that hears rates captions from 0 to 1, without references."""

    def __init__(self, name: str, settings: scorers.TrialSettings) -> None:
        super().__init__(name, settings, RATING)
        self.name = f"rate:{name}"
        if not self._listens:
            raise TrialError(f"{self.name} is no model that hears, or asked by another contract")

    def score(self, pairs: Pairs) -> tuple[FloatArray, FloatArray]:
        first, second = super().score(pairs)
        return first / MAX_SCORE, second / MAX_SCORE


class _CaptionModel(SimpleModel):
    contract = AudioContract("none")
    concurrency = 8

    def __init__(self, texts: Mapping[str, str]) -> None:
        super().__init__(f"{TRIAL}captions")
        self._texts = texts

    async def answer(self, question: Question) -> Reply:
        return Reply(self._texts[question.sample_id])
