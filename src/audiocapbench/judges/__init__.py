"""Judges: a prompt and the parser that belongs to it, who is asked, and how the scores add up."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from audiocapbench.errors import JudgeError, ReplyError
from audiocapbench.judges.contract import Contract, JudgeInput, ReplyField, Verdict
from audiocapbench.judges.executor import judge_run, missing_judgements
from audiocapbench.judges.judge import Judge, ModelJudge, TextJudge
from audiocapbench.judges.registry import create_judge, create_judges, find_contract

if TYPE_CHECKING:
    from audiocapbench.judges.check import check_judge

__all__ = ["Contract", "Judge", "JudgeError", "JudgeInput", "ModelJudge", "ReplyError"]
__all__ += ["ReplyField", "TextJudge", "Verdict", "check_judge", "create_judge"]
__all__ += ["create_judges", "find_contract", "judge_run", "missing_judgements"]


def __getattr__(name: str) -> Any:
    if name == "check_judge":  # brings the statistics: nothing before the first question needs it
        return import_module(f"{__name__}.check").check_judge
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
