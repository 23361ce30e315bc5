"""A judge on trial: every caption is judged alone, and the higher overall score wins.

A judge that is a model is asked through the store: captions become the answers of a run, so that
what was judged and paid for is kept, and a stopped trial goes on where it was.
"""

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from audiocapbench.benchmarks import Benchmark
from audiocapbench.benchmarks.benchmark import TRIAL
from audiocapbench.data.outcome import Reply
from audiocapbench.data.sample import Clip, Sample
from audiocapbench.engine import Preview, run_benchmark
from audiocapbench.errors import TrialError, TrialStoppedError
from audiocapbench.judges import create_judge
from audiocapbench.judges.aggregation import by_judge, overall
from audiocapbench.judges.contract import JudgeInput, Verdict
from audiocapbench.judges.executor import JudgeProgress, judge_run, missing_judgements
from audiocapbench.judges.failures import failure_reasons, failure_words
from audiocapbench.judges.judge import ModelJudge, judge_texts
from audiocapbench.judges.questioning import preview_judging
from audiocapbench.meta.pairs.pair import CaptionPair
from audiocapbench.meta.scorers.clip_files import WITHOUT_CLIPS, find_clips, unheard
from audiocapbench.meta.scorers.scorer import Diagnostics, FloatArray, PointwiseScorer
from audiocapbench.meta.settings import TrialSettings
from audiocapbench.models import AudioContract, Question
from audiocapbench.models.model import SimpleModel
from audiocapbench.store import Run

_CATEGORY = "sound"
_ASKED = "Describe what can be heard in the audio in one sentence."


class _CaptionCase(NamedTuple):
    """A caption of a clip and the references that it is held to; judged once, however often met."""

    clip: str
    caption: str
    references: tuple[str, ...]

    @property
    def id(self) -> str:
        """The same for the same words, in any file."""
        content = "\0".join([self.clip, self.caption, *self.references])
        return hashlib.sha256(content.encode()).hexdigest()[:24]


class JudgeScorer(PointwiseScorer):
    """Scores captions with a judge: offline at once, a model through the store."""

    def __init__(self, name: str, settings: TrialSettings) -> None:
        self._judge = create_judge(name, timeout=settings.timeout)
        self._settings = settings
        self.name = f"judge:{self._judge.name}"
        self.signature = self._judge.signature.with_fields(trial="pointwise", compare="float32")

    def preview(self, pairs: Sequence[CaptionPair]) -> list[Preview]:
        """What judging the captions will likely cost; they are put into the store for it."""
        if not isinstance(self._judge, ModelJudge):
            return []
        run = self._captions(pairs, self._judge)
        store, prices = self._settings.store, self._settings.prices
        missing = missing_judgements(store, run, self._judge)
        return [preview_judging(self._judge, missing, store=store, prices=prices)]

    def score(self, pairs: Sequence[CaptionPair]) -> tuple[FloatArray, FloatArray]:
        """Overall scores of the first captions and of the second; NaN for a failed judgement."""
        firsts, seconds = _sides(pairs)
        items = self._items(pairs)
        if isinstance(self._judge, ModelJudge):
            judged = self._judged(self._judge, self._captions(pairs, self._judge))
            scores = {item: judged[item.id] for item in items if item.id in judged}
        else:
            cases = [JudgeInput(one.id, one.caption, one.references, _CATEGORY) for one in items]
            verdicts = zip(items, judge_texts(self._judge, cases), strict=True)
            scores = {item: one.overall for item, one in verdicts if isinstance(one, Verdict)}
        failed = sum(item not in scores for item in items)
        self.latest = self.latest._replace(failed=failed)
        columns = [[scores.get(item, np.nan) for item in side] for side in (firsts, seconds)]
        return np.array(columns[0]), np.array(columns[1])

    def _items(self, pairs: Sequence[CaptionPair]) -> list[_CaptionCase]:
        firsts, seconds = _sides(pairs)
        items = [item for item in dict.fromkeys([*firsts, *seconds]) if item.references]
        if not items:
            raise TrialError(
                f"{self.name} needs references, and no pair has one that is neither of its "
                "captions; add such a column reference, or use a control:, clap: or model: scorer"
            )
        return items

    def _captions(self, pairs: Sequence[CaptionPair], judge: ModelJudge) -> Run:
        """The captions that can be judged, as the answers of a run."""
        settings, clips = self._settings, self._clips(pairs, judge)
        items = [item for item in self._items(pairs) if item.clip in clips]
        samples = tuple(
            Sample(item.id, clips[item.clip], _ASKED, item.references, _CATEGORY, place)
            for place, item in enumerate(items)
        )
        name = f"{TRIAL}judge" + ("" if judge.hears else WITHOUT_CLIPS)
        benchmark = Benchmark(name, settings.data or Path(), samples, kind="trial")
        filled = run_benchmark(benchmark, _CaptionModel(items), settings.store)
        if filled.stop is not None:
            raise TrialStoppedError(
                f"{self.name} was stopped before it was asked", stop=filled.stop
            )
        return filled.run

    def _judged(self, judge: ModelJudge, run: Run) -> dict[str, float]:
        """The overall score of each caption of the run that has one."""
        settings, total = self._settings, len(run.sample_ids)
        count = settings.counter(self.name, total)
        count(total - len(missing_judgements(settings.store, run, judge)))
        end = judge_run(
            settings.store,
            run,
            [judge],
            budget=settings.budget,
            prices=settings.prices,
            progress=JudgeProgress(arrived=lambda _judgement: count()),
        )
        for refusal in end.refusals:
            raise refusal
        if end.stop is not None:
            raise TrialStoppedError(
                f"{self.name} was stopped: {end.stop.because(end.spending)}; what was judged is "
                f"kept in {settings.store.name}, and the same command goes on from here",
                stop=end.stop,
            )
        kept = settings.store.judgements(run.id, judge.name)
        found = [one for one in kept if one.signature == judge.signature]
        why = failure_words(judge.name, failure_reasons(found), len(found))
        self.latest = Diagnostics(() if why is None else (why,))
        own = by_judge(found)
        return {key: overall(scores) for key, scores in own.get(judge.name, {}).items()}

    def _clips(self, pairs: Sequence[CaptionPair], judge: ModelJudge) -> Mapping[str, Clip]:
        if not judge.hears:
            return unheard(pairs)
        if self._settings.data is None:
            raise TrialError(f"{self.name} hears the clips; `data` names their folder")
        return find_clips(pairs, self._settings.data, follow_links=self._settings.follow_links)


def _sides(pairs: Sequence[CaptionPair]) -> tuple[list[_CaptionCase], list[_CaptionCase]]:
    """The first captions and the second."""
    return (
        [_CaptionCase(pair.clip, pair.first, pair.references_first) for pair in pairs],
        [_CaptionCase(pair.clip, pair.second, pair.references_second) for pair in pairs],
    )


class _CaptionModel(SimpleModel):
    """Answers every question with the caption on trial."""

    contract = AudioContract("none")
    concurrency = 8

    def __init__(self, items: Sequence[_CaptionCase]) -> None:
        super().__init__(f"{TRIAL}captions")
        self._captions = {item.id: item.caption for item in items}

    async def answer(self, question: Question) -> Reply:
        """The caption of this sample."""
        return Reply(self._captions[question.sample_id])
