"""What models are asked about two captions, and readers about their answers; what a reply in the
form that was asked for chooses.

Captions are data: prompts put them between typographic quotes that they cannot close.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

from audiocapbench.benchmarks import Benchmark
from audiocapbench.benchmarks.benchmark import TRIAL, trial_of
from audiocapbench.data.outcome import Reply
from audiocapbench.errors import ReplyError, TrialError, check_known
from audiocapbench.files import digest
from audiocapbench.judges.contract import RULES as QUOTING_RULES
from audiocapbench.judges.contract import as_data, fill
from audiocapbench.judges.reply_json import find_objects
from audiocapbench.meta.answers.likely import GradedChoice, read_graded
from audiocapbench.meta.answers.marks import COUNTED, Labels, labels_in
from audiocapbench.meta.answers.parser import ends_of
from audiocapbench.meta.pairs import CaptionPair
from audiocapbench.meta.scorers.scorer import Choice
from audiocapbench.metrics.shipped import read_lists
from audiocapbench.models import Model
from audiocapbench.models.probabilities import LOGPROBS, token_shares
from audiocapbench.models.replies import without_thoughts

AnswerForm = Literal["text", "schema", "logprobs"]

_ALSO = {"caption_0": "first", "caption_1": "second", "caption_a": "first", "caption_b": "second"}
_LONGEST_FILE, _LONGEST_ANSWER = 100_000, 6_000
_PLACE = re.compile(r"\{(\w+)\}")
_WORDS = {str(choice.value): choice for choice in Choice}

document = partial(read_lists, "audiocapbench.meta.scorers", "prompts.json")
"""Our prompts, the labels that they give captions, and the reader's prompt."""


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
        return digest(QUOTING_RULES, self.template)[:12]

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
        labels = " or ".join(self.labels.choices)
        wanted = {
            "text": "",
            "schema": f'\n\nAnswer with JSON and nothing else: {{"choice": …}}, which is {labels}.',
            "logprobs": f"\n\nAnswer with one character and nothing else: {labels}.",
        }
        return fill(self.template, **values) + wanted[self.form]

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
            return with_options(LOGPROBS, most_tokens=1)
        schema = {
            "type": "object",
            "properties": {"choice": {"type": "string", "enum": list(self.labels.choices)}},
            "required": ["choice"],
            "additionalProperties": False,
        }
        wanted = {"name": "choice", "schema": schema, "strict": True}
        return with_options({"response_format": {"type": "json_schema", "json_schema": wanted}})

    def read(self, reply: Reply, pair: CaptionPair) -> GradedChoice:
        """The choice of a reply in the form that was asked for, and how it was found."""
        text = without_thoughts(reply.text) or ""
        if self.form == "text":
            return read_graded(text, pair.first, pair.second, self.labels)
        choice = self._likeliest(reply.raw or "") if self.form == "logprobs" else self._chosen(text)
        return GradedChoice.of(choice, "certain")

    def _chosen(self, text: str) -> Choice:
        try:
            objects = find_objects(text).having(("choice",))
        except ReplyError:
            return Choice.UNKNOWN
        said = {str(one["choice"]).strip().upper() for one in objects}
        return self.labels.choices.get(" ".join(said), Choice.UNKNOWN)

    def _likeliest(self, raw: str) -> Choice:
        """The label whose token is the likeliest; both alike are a tie, and none is unknown."""
        shares = dict.fromkeys(self.labels.choices.values(), 0.0)
        for token, share in (token_shares(raw) or [("", {})])[0][1].items():
            if (choice := self.labels.choices.get(token.upper())) is not None:
                shares[choice] += share
        best, *others = sorted(shares, key=lambda choice: -shares[choice])
        if not shares[best]:
            return Choice.UNKNOWN
        return Choice.TIE if shares[best] == shares[others[0]] else best


def named_prompt(name: str, form: AnswerForm = "text") -> PairwisePrompt:
    known = document()
    check_known("prompt", name, known["prompts"], TrialError)
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
    template = _PLACE.sub(lambda one: f"{{{_ALSO.get(one[1], one[1])}}}", template)
    used = _PLACE.findall(template)
    if [name for name in used if name != "references"] != ["first", "second"]:
        there = " ".join(f"{{{name}}}" for name in used) or "no place"
        wanted = "must have {first}, then {second}, each once, and may have {references}"
        raise refused(f"{wanted}; it has {there}")
    said = {*re.findall(r"\w+", _PLACE.sub("", template))}
    named = [Labels(*one) for one in COUNTED if {*one} <= said]
    if not named and {"first", "second"} <= {*map(str.lower, said)}:
        named = [Labels()]
    labels = labels_in(template, "{first}", "{second}") or (named[0] if len(named) == 1 else None)
    if labels is None:
        how = "write A: {first} and B: {second}, 1 and 2, or caption_0 and caption_1"
        raise refused(f"does not say what answers are to call the captions; {how}")
    return PairwisePrompt(path.name, template, labels, form)


def reading_questions(
    unread: Sequence[tuple[CaptionPair, str]], labels: Labels, name: str
) -> Benchmark:
    """What a reader is asked about pairs and the answers to them, of the run of this name."""
    template = "\n".join(document()["reader"])
    texts = {
        pair.id: fill(
            template,
            first_label=f"“{labels.first}”",
            second_label=f"“{labels.second}”",
            first=as_data(pair.first),
            second=as_data(pair.second),
            answer=as_data(ends_of(answer, _LONGEST_ANSWER, " … ")),
        )
        for pair, answer in unread
    }
    return trial_of(f"reading/{name.removeprefix(TRIAL)}", Path(), texts)


def read_word(reply: str) -> Choice | None:
    """The choice of a reply of one word; None where it is anything else."""
    return _WORDS.get((without_thoughts(reply) or "").strip().strip("\"'“”*`.").strip().casefold())
