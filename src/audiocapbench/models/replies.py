"""What providers' replies say: text, cleaned as published, how it ended, and its tokens."""

import json
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, NamedTuple

from audiocapbench.credentials import raw_json, short
from audiocapbench.data.outcome import Reply, Status
from audiocapbench.errors import ModelError, TransientError
from audiocapbench.models.model import AS_PUBLISHED
from audiocapbench.models.price import CONTRADICTION
from audiocapbench.models.remote import RemoteModel, span_s

Json = Mapping[str, Any]

_TOP = ("id", "model", "usage", "system_fingerprint")
_SPOKEN = ("content", "refusal")
_TEXTS = ("text", "output_text")
_USED = (
    ("prompt_tokens", "input_tokens", "promptTokenCount"),
    ("completion_tokens", "output_tokens", "candidatesTokenCount"),
    ("total_tokens", "totalTokenCount"),
)
_DETAILS = (
    "prompt_tokens_details input_token_details completion_tokens_details output_token_details"
).split()

_FILTER_CODES = (
    "content_filter content_policy_violation data_inspection_failed datainspectionfailed".split()
)

# How answers end, in every provider's words. What is in none of these was no answer.
_ENDED_WELL = "stop eos eos_token stop_sequence end_turn completed".split()
_CUT_OFF = "length max_tokens max_output_tokens".split()
_STOPPED = (
    "content_filter sensitive safety recitation language blocklist prohibited_content spii "
    "model_armor image_safety image_prohibited_content image_recitation".split()
)

# The bounds keep a hostile answer (a hundred thousand brackets) from taking quadratic time.
_LINK_OR_IMAGE = re.compile(r"!?\[[^\]]{0,400}\]\([^)]{1,1000}\)")
_ADDRESS = re.compile(r"""(?:https?://|www\.)[^\s"'“”<>\\^`{|}]+""", re.IGNORECASE)
_NEWLINES = re.compile(r"\n{3,}")
_STARRED = (re.compile(r"\*\*([^*]+)\*\*"), re.compile(r"\*([^*]+)\*"))

# Characters without ink; fillers are letters and symbols by their category alone.
_UNSEEN = frozenset({"Zs", "Zl", "Zp", "Cc", "Cf", "Cs", "Cn", "Mn", "Me"})
_FILLERS = frozenset("\u115f\u1160\u2800\u3164\uffa0")

# What servers call too many questions, where they do not say so by a status.
_THROTTLED = re.compile(
    r"rate[ _-]?limit|too[ _-]?many[ _-]?requests|throttl|resource[ _-]?exhausted", re.IGNORECASE
)


class HttpReply(NamedTuple):
    """A whole response, which came over a connection or in a batch."""

    status: int
    headers: Mapping[str, str]
    content: bytes

    @property
    def is_success(self) -> bool:
        return 200 <= self.status < 300

    @property
    def text(self) -> str:
        return self.content.decode("utf-8", "replace").strip()

    def json(self) -> Any:
        return parsed_json(self.content)


def clean(text: str, *, emphasis: bool) -> str:
    """Take links, images and addresses out whole, and fold empty lines; or stars around words."""
    for starred in _STARRED if emphasis else ():
        text = starred.sub(r"\1", text)
    text = _ADDRESS.sub("", _LINK_OR_IMAGE.sub("", text))
    return _NEWLINES.sub("\n\n", text).strip()


def cleaned(reply: Reply) -> Reply:
    """A reply whose text is cleaned as published; what is blank then is empty."""
    text = clean(reply.text, emphasis=False)
    blank = reply.status is Status.OK and not text
    return replace(reply, text=text, status=Status.EMPTY if blank else reply.status)


def metered(body: Json, remote: RemoteModel, reply: Reply) -> Reply:
    return replace(reply, **_usage(body), raw=raw_json(body, remote.secrets))


def used_by(body: Any, text: str = "") -> Reply | None:
    """What a body that is no use says was used; None where it does not."""
    reply = Reply(text, **_usage(json_object(body)))
    return reply if reply.input_tokens or reply.output_tokens else None


def _usage(body: Json) -> dict[str, Any]:
    """Tokens read, written and heard, in any provider's words; why not, where they contradict."""
    usage = json_object(body.get("usage")) or json_object(body.get("usageMetadata"))
    told = [next((usage[one] for one in names if one in usage), None) for names in _USED]
    told += map(usage.get, ("thoughtsTokenCount", "audio_tokens"))
    read, written, total, thoughts, beside = map(count, told)
    if thoughts is not None:
        written = (written or 0) + thoughts  # which are billed as the answer is
    prompt, given, answer, output = (json_object(usage.get(name)) for name in _DETAILS)
    parts = json_objects(usage.get("promptTokensDetails"))
    audio = [prompt.get("audio_tokens"), given.get("audio_tokens")]
    audio += [part.get("tokenCount") for part in parts if part.get("modality") == "AUDIO"]
    within = next((known for one in audio if (known := count(one)) is not None), None)
    within_read = (within, usage.get("cachedContentTokenCount"), *prompt.values(), *given.values())
    said, apart = (read or 0) + (written or 0), 0
    wholes = [(said, total), *((one, read) for one in within_read)]
    if read is not None and within is None and beside is not None:
        # DashScope's older models count the audio beside the input, not within it.
        apart = beside if beside > read or said + beside == total else 0
    if read is not None and total is not None and total > said + apart:
        written = total - read - apart  # Gemini and xAI count thoughts in the total alone
    wholes += [(one, written) for one in (*answer.values(), *output.values())]
    larger = any(whole is not None and (count(one) or 0) > whole for one, whole in wholes)
    if larger or any(one is not None and count(one) is None for one in told):
        return {"usage_note": CONTRADICTION}
    read = None if read is None else read + apart
    heard = beside if within is None else within
    return {"input_tokens": read, "output_tokens": written, "audio_tokens": heard}


def paid_for(error: ModelError, body: Any, text: str = "") -> ModelError:
    """The error, with what was paid for where the body or the text says so."""
    reply = used_by(body, text) or (Reply(text) if text else None)
    if reply is not None and isinstance(error, TransientError):
        error.billed, error.reply = True, reply
    return error


def completion_reply(body: Any, remote: RemoteModel) -> Reply:
    """Read a chat completion; text is as it came."""
    if not isinstance(body, dict) or not isinstance(body.get("choices"), list):
        if told := json_object(json_object(body).get("error")):
            said, code, _ = _told_words(told)
            if code.lower() in _FILTER_CODES:
                return _filtered(told, said, remote)
            failure = _told_error(told, remote)
            # An error that has no status came with 200, as answers do; who throttles bills nothing.
            if isinstance(failure, TransientError) and told.get("code") is None:
                failure.billed = not failure.throttled
            raise paid_for(failure, body)
        said = raw_json(body, remote.secrets)
        reason = f"answered with something that is not a completion: {said}"
        raise remote.no_answer(reason, reply=used_by(body))
    return metered(body, remote, choice_ending(body, body["choices"], remote))


def _told_error(told: Json, remote: RemoteModel) -> ModelError:
    """The error that a server reports in place of an answer, as if it had said so by its status."""
    code = str(told.get("code") or "")
    status = int(code) if re.fullmatch(r"[45]\d\d", code) else 500
    if _THROTTLED.search(f"{code} {told.get('type') or ''} {told.get('status') or ''}"):
        status = 429
    said = str(told.get("message") or told)
    return remote.status_error(status, {}, said, "" if code.isdigit() else code)


def failed_reply(reply: HttpReply, remote: RemoteModel) -> Reply:
    """What an error by HTTP is: a reply where a content filter stopped the answer, else raised."""
    try:
        body = parsed_json(reply.text)
    except (ValueError, RecursionError):
        body = reply.text
    told = body.get("error", body) if isinstance(body, dict) else body
    said, code, _ = _told_words(told)
    if code.lower() in _FILTER_CODES:
        # An error in place of an answer: nothing was written.
        return replace(_filtered(told, said, remote), output_tokens=0)
    if told is body and code:
        said = f"{code}: {said}"
    failure = remote.status_error(reply.status, reply.headers, said or reply.text, code)
    if isinstance(failure, TransientError) and failure.retry_after_s is None:
        # Google's RetryInfo, which is written as "36.4s".
        notes = json_objects(json_object(told).get("details"))
        spans = (span_s(str(note.get("retryDelay") or "")) for note in notes)
        failure.retry_after_s = next((span for span in spans if span is not None), None)
    raise paid_for(failure, body)


def _filtered(told: Any, said: str, remote: RemoteModel) -> Reply:
    error = f"stopped by the provider's content filter ({short(said, remote.secrets)})"
    return Reply("", Status.FILTERED, error, raw=raw_json(told, remote.secrets))


def _told_words(told: Any) -> tuple[str, str, str]:
    """The message, code and type of an error, wherever this server puts them."""
    if not isinstance(told, dict):
        return (told if isinstance(told, str) else ""), "", ""
    said = told.get("message") or told.get("detail") or ""
    code, kind = (str(told.get(name) or "") for name in ("code", "type"))
    if code.isdigit():
        # llama.cpp and Google repeat the status as code, and say what happened elsewhere.
        code = kind or str(told.get("status") or "")
    return (said if isinstance(said, str) else json.dumps(said)), code, kind


def streamed_reply(content: bytes, remote: RemoteModel) -> Reply:
    chunks = []
    for chunk in _events(content):
        if told := json_object(chunk).get("error"):
            words, code, kind = _told_words(told)
            said = words or str(told)
            if code.lower() in _FILTER_CODES:
                return _filtered(told, said, remote)
            failure = _told_error({"code": code, "type": kind, "message": said}, remote)
            if isinstance(failure, TransientError) and not failure.throttled:
                failure = remote.no_answer(f"broke off ({said})")
            raise failure
        chunks.append(chunk)
    return completion_reply(_joined(chunks, remote), remote)


def _events(content: bytes) -> Iterator[Any]:
    """What the events of a stream say, up to the one that is its end."""
    data = list[bytes]()
    # Of other characters that may end a line, JSON may hold some.
    for line in content.splitlines():
        if line.startswith(b"data:"):
            data.append(line[5:].removeprefix(b" "))
        elif not line and data:
            if data[0].startswith(b"[DONE]"):
                return
            yield parsed_json(b"\n".join(data))
            data.clear()


def _joined(chunks: Sequence[Any], remote: RemoteModel) -> Json:
    """The completion that the chunks of a stream are, as a server without streams would send it."""
    if not all(isinstance(chunk, dict) for chunk in chunks):
        raise remote.no_answer("sent a piece that is not part of a completion")
    top = {key: chunk[key] for chunk in chunks for key in _TOP if chunk.get(key) is not None}
    choices = [one for chunk in chunks if (one := first_choice(chunk.get("choices"))) is not None]
    reasons = dict.fromkeys(str(why) for one in choices if (why := one.get("finish_reason")))
    deltas = [json_object(choice.get("delta")) for choice in choices]
    text, refusal = ("".join(_text(one.get(key)) for one in deltas) for key in _SPOKEN)
    # The piece with the usage, which comes last, has no choices.
    if not reasons and not any(one.get("usage") and not one.get("choices") for one in chunks):
        heard = Reply(text) if text else used_by(top)
        raise remote.no_answer("broke off in the middle of its answer", reply=heard)
    message: dict[str, Any] = {"content": text, "refusal": refusal or None}
    if calls := [call for one in deltas if (call := one.get("tool_calls"))]:
        message["tool_calls"] = calls
    choice = {"index": 0, "finish_reason": ", ".join(reasons) or None, "message": message}
    likely = (json_objects(json_object(one.get("logprobs")).get("content")) for one in choices)
    if tokens := list(chain.from_iterable(likely)):
        choice["logprobs"] = {"content": tokens}
    if errors := [error for one in choices if (error := one.get("error"))]:
        choice["error"] = errors[0]
    return {**top, "choices": [choice]}


def choice_ending(body: Json, choices: Any, remote: RemoteModel) -> Reply:
    """How the answer of a completion ended: its choice of number 0."""

    def failed(words: str) -> Reply:
        return Reply("", Status.FAILED, f"{remote.name}: {words}")

    choice = first_choice(choices)
    if choice is None or not isinstance(choice.get("message"), dict):
        return failed("the reply holds no answer")
    message, content = choice["message"], choice["message"].get("content")
    if wrong := choice.get("error") or body.get("error"):
        return failed(short(str(json_object(wrong).get("message") or wrong), remote.secrets))
    refusals = (part.get("refusal") for part in json_objects(content))
    if (refusal := _text([message.get("refusal"), *refusals])).strip():
        return Reply("", Status.REFUSED, short(refusal, remote.secrets))
    if not isinstance(content, str | list | None):
        return failed("the content of the reply is no text")
    text = _text(content)
    if AS_PUBLISHED.get() and content is None:
        return failed("the content of the reply is null")
    if message.get("tool_calls") and not text.strip():
        return failed("called a tool in place of an answer")
    return ending_as(choice.get("finish_reason"), text, f"{remote.name}: {remote.host}")


def first_choice(choices: Any) -> Json | None:
    """The choice of number 0, or the only one where none has a number: no more were asked for."""
    if not isinstance(choices, list) or not all(isinstance(one, dict) for one in choices):
        return None
    found = [one for one in choices if one.get("index") in (None, 0)]
    return found[0] if len(found) == 1 else None


def ending_as(reason: Any, text: str, whose: str) -> Reply:
    """How an answer ended, by its provider's word for it; one that nobody knows is a failure."""
    known = reason.lower() if isinstance(reason, str) else ""
    if known in _ENDED_WELL or AS_PUBLISHED.get():  # the published tool takes any text
        return Reply(text) if text.strip() else Reply("", Status.EMPTY)
    if known in _CUT_OFF:
        why = "the answer reached the limit of output tokens; --max-tokens allows more"
        return Reply(text, Status.TRUNCATED, why)
    if known in _STOPPED:
        return Reply("", Status.FILTERED, f"the answer was stopped ({reason})")
    how = f"ended as {short(str(reason))!r}" if reason else "did not say how its answer ended"
    return Reply("", Status.FAILED, f"{whose} {how}")


def is_blank(text: str) -> bool:
    """Whether nothing of a text can be seen: no letter, only spaces, marks and the like."""
    return all(unicodedata.category(one) in _UNSEEN or one in _FILLERS for one in text)


def count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def json_object(value: Any) -> Json:
    """The value if it is an object, else an empty one: providers send null for what is missing."""
    return value if isinstance(value, dict) else {}


def json_objects(value: Any) -> list[Json]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def parsed_json(text: str | bytes) -> Any:
    """What a body says; a number of more digits than anything can be counted in is none."""
    return json.loads(text, parse_int=lambda digits: int(digits) if len(digits) < 100 else None)


def _text(content: Any) -> str:
    """Text of a message, which some servers send in parts; thoughts are no part of it."""
    texts = []
    for part in content if isinstance(content, list) else [content]:
        is_spoken = isinstance(part, dict) and part.get("type", "text") in _TEXTS
        texts.append(part.get("text") if is_spoken else part)
    return "".join(text for text in texts if isinstance(text, str))


_NAMES = r"(?:\w+:)?(?:think(?:ing)?|thoughts?|reason(?:ing)?|reflection|scratchpad|analysis)"
_OPENING = re.compile(
    rf"<{_NAMES}(?:\s[^<>]*)?>|<\|begin_of_thought\|>|◁think▷|<unused94>"
    r"|<\|channel\|>\s*(?:analysis|commentary)\b",
    re.IGNORECASE,
)
_CLOSING = re.compile(
    rf"</{_NAMES}\s*>|<\|end_of_thought\|>|◁/think▷|<unused95>"
    r"|<\|channel\|>\s*final\s*<\|message\|>",
    re.IGNORECASE,
)
# Text from outside, which has no angle brackets, cannot play a thought: only at the beginning.
_SQUARE_OPENING = re.compile(r"\s*\[think\]", re.IGNORECASE)
_SQUARE_CLOSING = re.compile(r"\[/think\]", re.IGNORECASE)


def without_thoughts(text: str, prompt: str = "") -> str | None:
    """The reply after its thoughts; None where it ends before they do.

    Tags that the prompt asks for are part of the reply. All before the last end is thought: some
    servers begin a thought in the prompt.
    """
    if _SQUARE_OPENING.match(text):
        end = _SQUARE_CLOSING.search(text)
        if end is None:
            return None
        text = text[end.end() :]
    closed = 0
    for found in _CLOSING.finditer(text):
        closed = closed if found[0] in prompt else found.end()
    rest = text[closed:]
    return None if any(one[0] not in prompt for one in _OPENING.finditer(rest)) else rest
