"""What judging will likely cost, by the very prompts that a judge will be given."""

import random
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from audiocapbench.data import Sample
from audiocapbench.data.outcome import Outcome, Reply
from audiocapbench.engine import AnsweredSample, Preview, preview_questions
from audiocapbench.errors import JudgeError
from audiocapbench.judges.judge import Judge, ModelJudge
from audiocapbench.judges.questioning import JudgeTask, case_of
from audiocapbench.store import Store, cache_key

_DRAWN, _SEED = 500, 0


def preview_judging(
    judge: Judge,
    tasks: Iterable[JudgeTask],
    *,
    store: Store | None = None,
    prices: Path | None = None,
) -> Preview:
    """What it will likely cost to have answers judged; the store's cache is not asked."""
    who = f"judge {judge.name}"
    if not isinstance(judge, ModelJudge):
        return Preview(who, 0, "judges on this machine", 0.0)
    every = [one for one in tasks if judge.contract.without_asking(case_of(one[0])) is None]
    asked = every if store is None else _not_cached(judge, every, store)
    # Some hundreds of prompts tell what thousands will cost.
    drawn = asked if len(asked) <= _DRAWN else random.Random(_SEED).sample(asked, _DRAWN)
    prompts = [(_prompt(judge, one), one.sample.clip.duration_s) for one, _ in drawn]
    questions = [(text, length if judge.hears else 0.0) for text, length in prompts if text]
    found = preview_questions(who, judge.model, questions, "", prices=prices)
    what = "1 answer" if len(asked) == 1 else f"{len(asked):,} answers"
    found = found._replace(what=what, reused=len(every) - len(asked))
    if drawn is asked:
        return found
    usd = found.likely_usd
    likely = usd * len(asked) / len(questions) if usd is not None and questions else None
    return found._replace(questions=len(asked), likely_usd=likely)


def _not_cached(judge: ModelJudge, tasks: list[JudgeTask], store: Store) -> list[JudgeTask]:
    """What the cache does not answer; of a judge that hears, all is taken to be asked."""
    known = store.cached_texts(judge.model.name) if judge.model.cacheable else {}
    if not known or judge.hears:
        return tasks
    left = []
    for item, repeat in tasks:
        model, prompt = judge.asked(repeat), _prompt(judge, item)
        if prompt is None or cache_key(model.name, model.parameters, prompt, None) not in known:
            left.append((item, repeat))
    return left


def expected_answers(samples: Sequence[Sample], known: Mapping[str, str]) -> list[JudgeTask]:
    """Samples without an answer, with the one that is known or a reference in its place."""
    texts = {one.id: known.get(one.id) or next(iter(one.references), "sound") for one in samples}
    outcomes = ((one, Outcome(one.id, Reply(texts[one.id]), None, 0.0, 0.0)) for one in samples)
    return [(AnsweredSample(*one), 0) for one in outcomes]


def _prompt(judge: ModelJudge, item: AnsweredSample) -> str | None:
    """What a judge will be given; None where there are no words for it."""
    try:
        return judge.contract.prompt(case_of(item))
    except JudgeError:
        return None
