"""Judges: a prompt and the parser that belongs to it, who is asked, and how the scores add up."""

from audiocapbench.errors import JudgeError, ReplyError
from audiocapbench.judges.check import JudgeCheck, check_judge, preview_check
from audiocapbench.judges.contract import Contract, JudgeInput, ReplyField, Verdict
from audiocapbench.judges.executor import (
    JudgeEnd,
    JudgeOptions,
    JudgeProgress,
    JudgeTask,
    ajudge_run,
    check_prices,
    expected_answers,
    judge_run,
    missing_judgements,
    preview_judging,
)
from audiocapbench.judges.judge import BatchJudge, Judge, ModelJudge, TextJudge
from audiocapbench.judges.registry import (
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

__all__ = ["BatchJudge", "Contract", "Judge", "JudgeCheck", "JudgeEnd", "JudgeError", "JudgeInput"]
__all__ += ["JudgeOptions", "JudgeProgress", "JudgeSensitivity", "JudgeTask", "ModelJudge"]
__all__ += ["ReplyError", "ReplyField", "TextJudge", "Verdict", "ajudge_run", "check_judge"]
__all__ += ["check_prices", "create_judge", "create_judges", "expected_answers", "find_contract"]
__all__ += ["judge_run", "judge_variants", "list_contracts", "list_judges", "missing_judgements"]
__all__ += ["preview_check", "preview_judging", "preview_sensitivity", "select_answers"]
__all__ += ["study_sensitivity"]
