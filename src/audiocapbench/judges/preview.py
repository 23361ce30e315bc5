"""What judging will likely cost, by the very prompts that a judge will be given."""

from collections.abc import Iterable
from pathlib import Path

from audiocapbench.data import Sample
from audiocapbench.data.outcome import Outcome, Reply
from audiocapbench.engine import AnsweredSample, Preview, preview_questions
from audiocapbench.judges.errors import JudgeError
from audiocapbench.judges.judge import Judge, ModelJudge
from audiocapbench.judges.questioning import case_of


def preview_judging(
    judge: Judge, items: Iterable[AnsweredSample], *, prices: Path | None = None
) -> Preview:
    """What it will likely cost to have answers judged, each as often as it is among the items."""
    who = f"judge {judge.name}"
    if not isinstance(judge, ModelJudge):
        return Preview(who, 0, "judges on this machine", 0.0)
    prompts = [(_prompt(judge, one), one.sample.clip.duration_s) for one in items]
    asked = [(text, length if judge.hears else 0.0) for text, length in prompts if text]
    return preview_questions(who, judge.model, asked, "{} answers", prices=prices)


def expected_answers(samples: Iterable[Sample]) -> list[AnsweredSample]:
    """Samples that no one has answered yet, with a reference in the place of the answer."""
    return [
        AnsweredSample(one, Outcome(one.id, Reply(one.references[0]), None, 0.0, 0.0))
        for one in samples
    ]


def _prompt(judge: ModelJudge, item: AnsweredSample) -> str | None:
    """What a judge will be given; None where it will not be asked."""
    case = case_of(item)
    if judge.contract.without_asking(case) is not None:
        return None
    try:
        return judge.contract.prompt(case)
    except JudgeError:
        return None
