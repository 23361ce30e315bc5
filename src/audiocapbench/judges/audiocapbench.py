"""The judge of AudioCapBench: three scores of a caption, asked for with the published prompt."""

from typing import Any

from audiocapbench.judges.contract import REASONING, Case, Contract, ReplyField, published_prompts
from audiocapbench.judges.quoting import fill

NAME = "audiocapbench"
DIMENSIONS = ("accuracy", "completeness", "hallucination")
MAX_TOKENS = 300


def contract() -> Contract:
    """Three integers from 0 to 10 and a sentence or two of reasoning."""
    fields = (*(ReplyField(name, "integer") for name in DIMENSIONS), ReplyField(REASONING, "text"))
    return Contract(
        NAME,
        fields,
        _assemble,
        published_prompts(NAME)[0],
        MAX_TOKENS,
        description="AudioCapBench's prompt: a caption against references, by category",
    )


def _assemble(case: Case) -> str:
    _, prompts = published_prompts(NAME)
    return fill(
        "\n".join(prompts["template"]),
        category_guidance=_guidance(case, prompts),
        refs_text="\n".join(f"  - {one}" for one in case.references),
        prediction=case.prediction,
    )


def _guidance(case: Case, prompts: dict[str, Any]) -> str:
    # A category that the paper does not have gets the guidance of sound, as its instruction does.
    category = case.category if case.category in prompts["guidance"] else "sound"
    guidance: str = prompts["guidance"][category]
    if category != "speech" or not case.transcript:
        return guidance
    return f"{guidance}\n{fill(prompts['transcript'], transcript=case.transcript)}"
