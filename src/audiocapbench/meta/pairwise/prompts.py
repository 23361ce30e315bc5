"""Prompts that ask a model to compare two captions, ours or one from a file, and forms of answers.

Captions are data: they are put between typographic quotes that they cannot close.
"""

import hashlib
import json
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

from audiocapbench.data.outcome import Reply
from audiocapbench.errors import ReplyError, TrialError, did_you_mean
from audiocapbench.judges.contract import RULES, as_data, fill
from audiocapbench.judges.reply_json import whole_object
from audiocapbench.meta.answers.marks import Labels
from audiocapbench.meta.answers.parser import read_answer
from audiocapbench.meta.pairs.pair import CaptionPair
from audiocapbench.meta.scorers.scorer import Choice
from audiocapbench.models import Model
from audiocapbench.models.replies import without_thoughts

AnswerForm = Literal["text", "schema", "logprobs"]

_PLACEHOLDERS = ("first", "second", "references")
_ALSO = {"caption_0": "first", "caption_1": "second", "caption_a": "first", "caption_b": "second"}
_LONGEST_FILE = 100_000
_NAME = re.compile(r"\{(\w+)\}")
_CALLED = re.compile(r"(?<![^\W_])(?P<label>[A-Za-z0-9])[\s).:\]\-=–—\"'“‘«(]*$")
_COUNTED = (("0", "1"), ("1", "2"), ("A", "B"))
_TOP = 20


@dataclass(frozen=True, slots=True)
class PairwisePrompt:
    """A prompt with ``{first}``, ``{second}`` and perhaps ``{references}``; how it is answered."""

    name: str
    template: str
    labels: Labels
    form: AnswerForm = "text"

    @property
    def hash(self) -> str:
        """Changes with every letter of the prompt, and with what is done to captions."""
        return hashlib.sha256(f"{RULES}\0{self.template}".encode()).hexdigest()[:12]

    def ask(self, pair: CaptionPair) -> str:
        """The prompt about one pair, and in words the form in which to answer."""
        values = {"first": as_data(pair.first), "second": as_data(pair.second)}
        if "{references}" in self.template:
            # References that both captions may be held to; none of them is one of the captions.
            own = {pair.first.strip().casefold(), pair.second.strip().casefold()}
            shared = [one for one in pair.references_first if one in pair.references_second]
            texts = [one for one in dict.fromkeys(shared) if one.strip().casefold() not in own]
            if not texts:
                raise TrialError(
                    f"pair {pair.id}: the prompt {self.name} shows reference captions and this "
                    "pair has none; choose a prompt whose name does not end in -ref"
                )
            values["references"] = "\n".join(f"- “{as_data(text)}”" for text in texts)
        labels = " or ".join(self._choices)
        wanted = {
            "text": "",
            "schema": f'\n\nAnswer with JSON and nothing else: {{"choice": …}}, which is {labels}.',
            "logprobs": f"\n\nAnswer with one character and nothing else: {labels}.",
        }
        return fill(self.template, **values) + wanted[self.form]

    @property
    def _choices(self) -> dict[str, Choice]:
        known = {self.labels.first: Choice.FIRST, self.labels.second: Choice.SECOND}
        return known if self.labels.tie is None else {**known, self.labels.tie: Choice.TIE}

    def held_to_form(self, model: Model) -> Model:
        """The model as it is asked in the form; TrialError where it cannot be."""
        if self.form == "text":
            return model
        with_options: Callable[..., Model] | None = getattr(model, "with_options", None)
        if with_options is None:
            raise TrialError(
                f"{model.name} cannot be asked with --answer {self.form}: its provider takes no "
                "such option of a request; use --answer text"
            )
        if self.form == "logprobs":
            return with_options({"logprobs": True, "top_logprobs": _TOP}, most_tokens=1)
        schema = {
            "type": "object",
            "properties": {"choice": {"type": "string", "enum": list(self._choices)}},
            "required": ["choice"],
            "additionalProperties": False,
        }
        wanted = {"name": "choice", "schema": schema, "strict": True}
        return with_options({"response_format": {"type": "json_schema", "json_schema": wanted}})

    def read(self, reply: Reply, pair: CaptionPair) -> Choice:
        """The choice of a reply in the form that was asked for; unknown where it is not certain."""
        text = without_thoughts(reply.text) or ""
        if self.form == "text":
            return read_answer(text, pair.first, pair.second, self.labels)
        if self.form == "logprobs":
            return self._likeliest(reply.raw or "")
        try:
            values = whole_object(text.strip().removeprefix("```json").strip("`\n "))
        except ReplyError:
            return Choice.UNKNOWN
        return self._choices.get(str(values.get("choice")).strip().upper(), Choice.UNKNOWN)

    def _likeliest(self, raw: str) -> Choice:
        """The label whose token is the likeliest; both alike are a tie, and none is unknown."""
        try:
            first: Any = json.loads(raw)["choices"][0]["logprobs"]["content"][0]["top_logprobs"]
            likely = [(str(one["token"]), math.exp(float(one["logprob"]))) for one in first]
        except (ValueError, LookupError, TypeError):
            return Choice.UNKNOWN
        shares = dict.fromkeys(self._choices.values(), 0.0)
        for token, share in likely:
            choice = self._choices.get(token.strip(" \n.()*\"'").upper())
            if choice is not None:
                shares[choice] += share
        best, *others = sorted(shares, key=lambda choice: -shares[choice])
        if not shares[best]:
            return Choice.UNKNOWN
        return Choice.TIE if shares[best] == shares[others[0]] else best


def named_prompt(name: str, form: AnswerForm = "text") -> PairwisePrompt:
    known = document()
    if name not in known["prompts"]:
        near = did_you_mean(name, known["prompts"], "choose one of")
        raise TrialError(f"there is no prompt {name!r}{near}")
    called = known["labels"]
    labels = Labels(called["first"], called["second"], called["tie"] if "-tie" in name else None)
    return PairwisePrompt(name, "\n".join(known["prompts"][name]), labels, form)


def prompt_from(path: Path, form: AnswerForm = "text") -> PairwisePrompt:
    """A prompt of the user's own: UTF-8 text with ``{first}`` and ``{second}``.

    ``{caption_0}`` and ``{caption_1}``, as BRACE writes them, mean the same. What stands before the
    places, such as ``caption_0:`` or ``A)``, names the captions in answers.
    """

    def refused(why: str) -> TrialError:
        return TrialError(f"prompt file {path}: {why}")

    try:
        template = path.read_bytes()[: _LONGEST_FILE + 1].decode("utf-8-sig").strip()
    except OSError as error:
        raise refused(f"cannot be read ({error.strerror})") from None
    except UnicodeDecodeError as error:
        raise refused(f"is not UTF-8 (byte {error.start + 1})") from None
    if len(template.encode()) > _LONGEST_FILE:
        raise refused(f"is longer than {_LONGEST_FILE:,} bytes")
    template = _NAME.sub(lambda one: f"{{{_ALSO.get(one[1], one[1])}}}", template)
    used = _NAME.findall(template)
    for name in used:
        if name not in _PLACEHOLDERS:
            known = ", ".join(f"{{{one}}}" for one in _PLACEHOLDERS)
            raise refused(f"{{{name}}} is no place that can be filled; there are {known}")
    called = []
    for name in ("first", "second"):
        if used.count(name) != 1:
            times = "is missing" if name not in used else f"stands {used.count(name)} times"
            raise refused(f"{{{name}}} {times}; it must stand once")
        label = _CALLED.search(template.partition(f"{{{name}}}")[0].rpartition("\n")[2])
        called.append(label["label"].upper() if label else "")
    if template.index("{first}") > template.index("{second}"):
        raise refused("{first} must stand before {second}")
    labels = Labels(*called) if tuple(called) in _COUNTED else Labels()
    return PairwisePrompt(path.name, template, labels, form)


@cache
def document() -> dict[str, Any]:
    text = files("audiocapbench.meta.pairwise").joinpath("prompts.json").read_text("utf-8")
    return dict(json.loads(text))
