"""What judging will likely cost, by the very prompts that a judge will be given."""

import random
from collections.abc import Iterable
from pathlib import Path

from audiocapbench.data import Sample
from audiocapbench.data.outcome import Outcome, Reply
from audiocapbench.engine import AnsweredSample, Preview, preview_questions
from audiocapbench.judges.errors import JudgeError
from audiocapbench.judges.judge import Judge, ModelJudge
from audiocapbench.judges.questioning import case_of

_DRAWN, _SEED = 500, 0


def preview_judging(
    judge: Judge, items: Iterable[AnsweredSample], *, prices: Path | None = None
) -> Preview:
    """What it will likely cost to have answers judged, each as often as it is among the items."""
    who = f"judge {judge.name}"
    if not isinstance(judge, ModelJudge):
        return Preview(who, 0, "judges on this machine", 0.0)
    asked = [one for one in items if judge.contract.without_asking(case_of(one)) is None]
    # Some hundreds of prompts tell what thousands will cost.
    drawn = asked if len(asked) <= _DRAWN else random.Random(_SEED).sample(asked, _DRAWN)
    prompts = [(_prompt(judge, one), one.sample.clip.duration_s) for one in drawn]
    questions = [(text, length if judge.hears else 0.0) for text, length in prompts if text]
    found = preview_questions(who, judge.model, questions, "{} answers", prices=prices)
    if drawn is asked:
        return found
    usd = found.likely_usd
    likely = usd * len(asked) / len(questions) if usd is not None and questions else None
    return Preview(who, len(asked), f"{len(asked):,} answers", likely)


def expected_answers(samples: Iterable[Sample]) -> list[AnsweredSample]:
    """Samples that no one has answered yet, with a reference in the place of the answer."""
    return [
        AnsweredSample(
            one,
            Outcome(
                one.id, Reply(one.references[0] if one.references else "sound"), None, 0.0, 0.0
            ),
        )
        for one in samples
    ]


def _prompt(judge: ModelJudge, item: AnsweredSample) -> str | None:
    """What a judge will be given; None where there are no words for it."""
    try:
        return judge.contract.prompt(case_of(item))
    except JudgeError:
        return None
