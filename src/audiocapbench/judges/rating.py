"""A rating by a model that hears: one digit for clip and caption, without references.

Where probabilities come with a reply, the rating is the expected value over the digits that might
have been written; else it is the digit as written.
"""

import re
from dataclasses import replace

from audiocapbench.errors import ReplyError
from audiocapbench.judges.contract import MAX_SCORE, Contract, ReplyField, Verdict, fill
from audiocapbench.judges.published import prompts_in
from audiocapbench.models.probabilities import bare, token_shares

RATING = "rating"
AS_WRITTEN = "no probabilities came with the reply: the digit is as written"
_HIGHEST = 9
_DIGIT = re.compile("[0-9]")
_REPLY = re.compile(r"(?:(?:rating|score|answer)[\s:=*_`\"]*)?([0-9])", re.IGNORECASE)


def rating_contract() -> Contract:
    wording, prompts = prompts_in(RATING)
    return Contract(
        RATING,
        (ReplyField(RATING, "number"),),
        lambda case: fill("\n".join(prompts["template"]), caption=case.prediction),
        wording,
        max_tokens=300,
        description="one digit by a model that hears: clip and caption, without references",
        reader=_read,
        listens=True,
        weigh=_weigh,
        made_with=(("shown", "plain"), ("digits", "expected-where-given")),
    )


def _read(text: str) -> Verdict:
    found = _REPLY.fullmatch(bare(text))
    if found is None:
        raise ReplyError("the reply is not one digit from 0 to 9")
    return Verdict({RATING: int(found[1]) * MAX_SCORE / _HIGHEST}, "")


def _weigh(verdict: Verdict, raw: str) -> Verdict:
    """The verdict with the expected value in the place of the last digit that was written."""
    written = str(round(verdict.scores[RATING] * _HIGHEST / MAX_SCORE))
    places = [one for one in token_shares(raw) if _DIGIT.search(one[0])]
    token, likely = places[-1] if places else ("", {})
    shares = {int(one): share for one, share in likely.items() if _DIGIT.fullmatch(one)}
    if token != written or not shares.get(int(written)):
        return replace(verdict, note=AS_WRITTEN)
    expected = sum(digit * share for digit, share in shares.items()) / sum(shares.values())
    return replace(verdict, scores={RATING: expected * MAX_SCORE / _HIGHEST})
