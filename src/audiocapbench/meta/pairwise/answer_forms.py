"""How a model is asked to give its choice: in free text, as JSON of a schema, or by one token.

Free text is the published protocol. The other forms leave nothing to a parser of prose; a server
that does not keep to the form is not read as if it had written text.
"""

import json
import math
from typing import Any, Literal, get_args

from audiocapbench.data.outcome import Reply
from audiocapbench.meta.answers.marks import Labels
from audiocapbench.meta.answers.parser import read_answer
from audiocapbench.meta.errors import TrialError
from audiocapbench.meta.pairs.pair import CaptionPair
from audiocapbench.meta.scorers.scorer import Choice
from audiocapbench.models import Model
from audiocapbench.models.model import OptionsModel
from audiocapbench.models.thoughts import without_thoughts

AnswerForm = Literal["text", "schema", "logprobs"]
ANSWER_FORMS: tuple[AnswerForm, ...] = get_args(AnswerForm)

_TOP = 20


def in_form(model: Model, form: AnswerForm, labels: Labels) -> Model:
    """The model as it is asked in a form.

    Raises:
        TrialError: It cannot be asked so.
    """
    if form == "text":
        return model
    if not isinstance(model, OptionsModel):
        raise TrialError(
            f"{model.name} cannot be asked with --answer {form}: its provider takes no such option "
            "of a request; use --answer text"
        )
    if form == "logprobs":
        return model.with_options({"logprobs": True, "top_logprobs": _TOP}, most_tokens=1)
    choice = {"type": "string", "enum": list(_meanings(labels))}
    schema = {
        "type": "object",
        "properties": {"choice": choice},
        "required": ["choice"],
        "additionalProperties": False,
    }
    wanted = {"name": "choice", "schema": schema, "strict": True}
    return model.with_options({"response_format": {"type": "json_schema", "json_schema": wanted}})


def instruction_in(form: AnswerForm, labels: Labels) -> str:
    """What follows the prompt, so that the form is asked for in words too."""
    letters = " or ".join(_meanings(labels))
    if form == "schema":
        return f'\n\nAnswer with JSON and nothing else: {{"choice": …}}, which is {letters}.'
    return f"\n\nAnswer with one character and nothing else: {letters}." * (form == "logprobs")


def read_reply(reply: Reply, pair: CaptionPair, form: AnswerForm, labels: Labels) -> Choice:
    """The choice of a reply in the form that was asked for; unknown where it is not certain."""
    text = without_thoughts(reply.text) or ""
    if form == "text":
        return read_answer(text, pair.first, pair.second, labels)
    if form == "logprobs":
        return _likeliest(reply.raw or "", labels)
    try:
        found = json.loads(text.strip().removeprefix("```json").strip("`\n "))
    except ValueError:
        return Choice.UNKNOWN
    said = str(found.get("choice")).strip().upper() if isinstance(found, dict) else ""
    return _meanings(labels).get(said, Choice.UNKNOWN)


def _meanings(labels: Labels) -> dict[str, Choice]:
    known = {labels.first: Choice.FIRST, labels.second: Choice.SECOND}
    return known if labels.tie is None else {**known, labels.tie: Choice.TIE}


def _likeliest(raw: str, labels: Labels) -> Choice:
    """The label whose token is the likeliest; both alike are a tie, and none is unknown."""
    try:
        first: Any = json.loads(raw)["choices"][0]["logprobs"]["content"][0]["top_logprobs"]
        likely = [(str(one["token"]), math.exp(float(one["logprob"]))) for one in first]
    except (ValueError, LookupError, TypeError):
        return Choice.UNKNOWN
    known = _meanings(labels)
    shares = dict.fromkeys(known.values(), 0.0)
    for token, share in likely:
        choice = known.get(token.strip(" \n.()*\"'").upper())
        if choice is not None:
            shares[choice] += share
    best, *others = sorted(shares, key=lambda choice: -shares[choice])
    if not shares[best]:
        return Choice.UNKNOWN
    return Choice.TIE if shares[best] == shares[others[0]] else best
