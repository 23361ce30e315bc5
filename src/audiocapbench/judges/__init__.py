"""Judges: a prompt and the parser that belongs to it, who is asked, and how the scores add up."""

from audiocapbench.errors import JudgeError, ReplyError
from audiocapbench.judges.check import JudgeCheck, check_judge, preview_check
from audiocapbench.judges.contract import Contract, JudgeInput, ReplyField, Verdict
from audiocapbench.judges.executor import (
    JudgeEnd,
    JudgeOptions,
    JudgeProgress,
    JudgingEnd,
    ajudge_run,
    check_prices,
    judge_run,
    missing_judgements,
)
from audiocapbench.judges.judge import BatchJudge, Judge, ModelJudge, TextJudge
from audiocapbench.judges.questioning import JudgeTask, expected_answers, preview_judging
from audiocapbench.judges.registry import (
    ContractEntry,
    JudgeEntry,
    create_judge,
    create_judges,
    find_contract,
    list_contracts,
    list_judges,
)
from audiocapbench.judges.sensitivity import (
    JudgeSensitivity,
    judge_variants,
    preview_sensitivity,
    select_answers,
    study_sensitivity,
)

__all__ = [
    "BatchJudge",
    "Contract",
    "ContractEntry",
    "Judge",
    "JudgeCheck",
    "JudgeEnd",
    "JudgeInput",
]
__all__ += ["JudgeEntry", "JudgeError", "JudgeOptions", "JudgeProgress", "JudgeSensitivity"]
__all__ += ["JudgeTask", "JudgingEnd", "ModelJudge", "ReplyError", "ReplyField", "TextJudge"]
__all__ += ["Verdict", "ajudge_run", "check_judge", "check_prices", "create_judge", "create_judges"]
__all__ += ["expected_answers", "find_contract", "judge_run", "judge_variants", "list_contracts"]
__all__ += ["list_judges", "missing_judgements", "preview_check", "preview_judging"]
__all__ += ["preview_sensitivity", "select_answers", "study_sensitivity"]
