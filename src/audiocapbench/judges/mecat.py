"""MECAT's judges: one score from 0 to 10, for captions by sub-category and answers by question."""

from functools import partial
from typing import Literal

from audiocapbench.errors import JudgeError
from audiocapbench.judges.contract import (
    REASONING,
    Contract,
    JudgeInput,
    ReplyField,
    published_prompts,
)
from audiocapbench.judges.quoting import fill

Task = Literal["caption", "qa"]

SCORE = "fine_score"
# The paper does not say; its reasoning is to be detailed.
MAX_TOKENS = 1000

_ASKS = {
    "caption": "a caption against references, by sub-task",
    "qa": "an answer against the reference, by kind of question",
}


def contract(task: Task) -> Contract:
    """One number from 0 to 10 and the reasoning; the rest of the reply is an echo."""
    fields = (
        ReplyField("sample_id", "text", required=False),
        ReplyField("subtask", "text", required=False),
        ReplyField(SCORE, "number"),
        ReplyField(REASONING, "text"),
    )
    return Contract(
        f"mecat-{task}",
        fields,
        partial(_assemble, task),
        published_prompts("mecat")[0],
        MAX_TOKENS,
        description=f"MECAT's prompt: {_ASKS[task]}",
    )


def _assemble(task: Task, case: JudgeInput) -> str:
    _, prompts = published_prompts("mecat")
    kind = str(case.details.get("subtask") or case.category)
    kind = kind.removeprefix("pure_").removeprefix("mixed_")
    subtask = prompts[task].get(kind)
    if subtask is None:
        known = ", ".join(prompts[task])
        raise JudgeError(f"{case.sample_id}: mecat-{task} judges {known}; this sample is {kind!r}")
    # The paper leaves this layout open: an id, the references, and what is judged.
    lines = [
        f"\nsample_id: {case.sample_id}",
        *([f"question: “{case.instruction}”"] if task == "qa" else []),
        "reference answers:",
        *(f"  - {one}" for one in case.references),
        f"candidate answer: “{case.prediction}”",
    ]
    return fill(
        "\n".join(prompts["template"]),
        tasks=prompts["tasks"][task],
        description=subtask["description"],
        subtask=subtask["name"],
        scoring_aspects="\n".join(subtask["aspects"]),
        ref_texts="\n".join(lines),
    )
