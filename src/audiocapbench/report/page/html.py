"""The report page: one self-contained file that asks for nothing over a network."""

import base64
import gzip
import hashlib
import io
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal, NamedTuple
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray
from pydantic_core import to_json

from audiocapbench import audio
from audiocapbench.data import Clip, Sample
from audiocapbench.data.outcome import SCORED, Outcome, Status
from audiocapbench.errors import AudioError, ReportError
from audiocapbench.files import write_file
from audiocapbench.report.page.board import board_document, compared_pairs
from audiocapbench.report.page.document import BoardDocument
from audiocapbench.report.page.plots import draw_card, figure_writer
from audiocapbench.report.page.rendering import joined, render
from audiocapbench.report.page.report_data import ReportData
from audiocapbench.report.runs import judge_words
from audiocapbench.scores.table import keep_estimates
from audiocapbench.store import Store

AudioChoice = Literal["none", "link", "embed"]

POINTS = 200
DIGITS = 6
"""Of scores, as exact as pages show and sort; all would make a report half as large again."""
MOST_EMBEDDED = 150_000_000
"""Bytes; a browser holds a page as one text, which may not be much longer than this."""
NOT_ASKED = "not asked"
MEDIA_TYPES = {
    **{f".{one}": f"audio/{one}" for one in ("wav", "flac", "ogg", "mp4", "webm", "aac")},
    **dict.fromkeys((".oga", ".opus"), "audio/ogg"),
    ".mp3": "audio/mpeg",
    ".m4a": "audio/mp4",
}
_SMALL = 10_000  # bytes a second of what is made of larger sound, at the most
_MP3_RATES = (16_000, 22_050, 24_000, 32_000)
_READERS = 4
_SILENCE = np.full((2, POINTS), 128, dtype=np.uint8)


def packed(document: Mapping[str, Any]) -> str:
    """A document as base64 of gzip; the same content gives the same line."""
    try:
        text = to_json(document, inf_nan_mode="null")
    except ValueError:  # half a surrogate pair, which is no reason to fail and must be escaped
        text = json.dumps(document, separators=(",", ":"), allow_nan=False).encode("ascii")
    packed = gzip.compress(text, compresslevel=2, mtime=0)
    return base64.b64encode(packed).decode("ascii")


@dataclass(frozen=True, slots=True)
class Sound:
    """One clip's audio: a ``link`` to it or its ``content`` as base64, or why it is ``missing``.

    ``peaks`` are the lowest and highest sample of each of POINTS pieces, as 0 to 255.
    """

    peaks: NDArray[np.uint8]
    kind: str = ""
    link: str = ""
    content: str = ""
    missing: str = ""

    @property
    def shown(self) -> dict[str, str]:
        peaks = base64.b64encode(self.peaks.tobytes()).decode("ascii")
        return {"kind": self.kind, "link": self.link, "missing": self.missing, "peaks": peaks}


def explorer_data(data: ReportData, sounds: Mapping[str, Sound], board: BoardDocument) -> str:
    """The packed line that the page's script reads: the board, and every sample as served ones."""
    places, clips = {sha: number for number, sha in enumerate(sounds)}, []
    read = []
    for table in (run.table for run in data.runs):
        own = [table.sample_scores(scorer).values for scorer in data.scorers]
        scores = [{key: round(value, DIGITS) for key, value in one.items()} for one in own]
        said = {judge: judge_words(table, judge) for judge in table.judgements}
        read.append((table.outcomes, scores, said))
    for sample in data.samples:
        key, sound = sample.id, places.get(sample.clip.sha256)
        answers = []
        for outcomes, scores, said in read:
            words = {judge: own.get(key, "") for judge, own in said.items()}
            known = [values.get(key) for values in scores]
            answers.append(shown_answer(outcomes.get(key), known, words))
        clips.append(clip_document(sample) | {"sound": sound, "answers": answers})
    statuses = {answer["status"] for clip in clips for answer in clip["answers"]}
    facts = {
        "board": board.to_dict(),
        "categories": data.categories,
        "present": [one for one in (*map(str, Status), NOT_ASKED) if one in statuses],
        "sounds": [one.shown for one in sounds.values()],
        "clips": clips,
    }
    return packed(facts)


def clip_document(sample: Sample) -> dict[str, Any]:
    """What pages show of a sample beside its sound and what models said."""
    details = (
        f"{name}: {value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}"
        for name, value in sample.details.items()
    )
    return {
        "id": sample.id,
        "category": sample.category,
        "seconds": sample.clip.duration_s,
        "rate": sample.clip.rate,
        "file": sample.clip.file_name,
        "instruction": sample.instruction,
        "details": "\n".join(details),
        "references": list(sample.references),
    }


def shown_answer(
    outcome: Outcome | None, scores: Sequence[float | None], verdicts: Mapping[str, str]
) -> dict[str, Any]:
    """What pages show of an answer and its judging, with a note where it was a reference itself."""
    spoken = [one for one in verdicts.items() if one[1]]
    said: dict[str, Any] = {"scores": scores, "verdicts": spoken}
    if outcome is None:
        unknown = {"status": NOT_ASKED, "latency": None, "cost": None}
        return {"text": "", "error": "", "note": ""} | unknown | said
    reply, note = outcome.reply, ""
    if reply.withheld is not None:
        note = f"reference {reply.withheld + 1}, not scored against itself"
    error = reply.error or ""
    if reply.status in SCORED:
        note, error = note or error, ""
    latency = None if outcome.cached else outcome.latency_s
    said |= {"text": reply.text, "error": error, "note": note, "cost": reply.cost_usd}
    return said | {"status": str(reply.status), "latency": latency}


def sounds_of(
    clips: Iterable[Clip], choice: AudioChoice, page: Path, most: int = MOST_EMBEDDED
) -> dict[str, Sound]:
    """The audio of clips by SHA-256, or why it cannot be played; nothing at all for ``none``.

    Embedded clips of more than ``most`` bytes in all are made smaller.
    """
    if choice == "none":
        return {}
    distinct = list({clip.sha256: clip for clip in clips}.values())
    smaller = choice == "embed" and sound_size(distinct) > most
    if smaller and (size := sound_size(distinct, smaller=True)) > most:
        raise ReportError(
            f"the clips have {size / 1e6:,.0f} MB; a page takes {most / 1e6:,.0f} MB at "
            "most. Use --audio link, or --audio none"
        )
    with ThreadPoolExecutor(_READERS) as readers:
        sounds = readers.map(lambda clip: _sound(clip, choice, page, smaller), distinct)
        return {clip.sha256: sound for clip, sound in zip(distinct, sounds, strict=True)}


def sound_size(clips: Iterable[Clip], *, smaller: bool = False) -> int:
    """Bytes of all clips as they are, or no more than ``_transcoded`` makes of them."""
    own = {clip.sha256: clip for clip in clips if not clip.is_absent and clip.path.is_file()}
    smaller = smaller and find_spec("soundfile") is not None
    sizes = ((one.path.stat().st_size, one.duration_s) for one in own.values())
    return sum(min(size, int(s * _SMALL)) if smaller else size for size, s in sizes)


def _transcoded(content: bytes, rate: int) -> tuple[bytes, str]:
    """One channel of a clip as MP3, or as Opus where libsndfile has none, and its media type."""
    import soundfile

    has_mp3 = "MP3" in soundfile.available_formats()
    rate = (rate if rate in _MP3_RATES else max(_MP3_RATES)) if has_mp3 else 24_000
    sound, made = audio.decode(content, mono=True, rate=rate), io.BytesIO()
    how = ("MP3", "MPEG_LAYER_III") if has_mp3 else ("OGG", "OPUS")
    soundfile.write(made, sound.samples, rate, format=how[0], subtype=how[1])
    return made.getvalue(), "audio/mpeg" if has_mp3 else "audio/ogg"


def _sound(clip: Clip, choice: AudioChoice, page: Path, smaller: bool) -> Sound:
    if clip.is_absent:
        return Sound(_SILENCE, missing="only references were given for this run")
    content = b""
    try:
        if choice == "embed":
            content = clip.read(MOST_EMBEDDED)
        else:
            clip.check()
        with audio.open_stream(clip.path, mono=True) as stream:
            blocks = (np.clip(block[:, 0], -1.0, 1.0) for block in stream.blocks)
            heights = [np.rint((block + 1.0) * 127.5).astype(np.uint8) for block in blocks]
        levels = np.concatenate(heights)
        kind = MEDIA_TYPES.get(clip.path.suffix.lower(), "application/octet-stream")
        if smaller and len(content) > clip.duration_s * _SMALL:
            content, kind = _transcoded(content, clip.rate)
    except AudioError as error:
        return Sound(_SILENCE, missing=f"the file {error.reason}")
    edges = np.linspace(0, len(levels), POINTS + 1).astype(int)[:-1]
    peaks = np.stack([np.minimum.reduceat(levels, edges), np.maximum.reduceat(levels, edges)])
    if choice == "link":
        return Sound(peaks, kind, link=_link(clip.path, page))
    return Sound(peaks, kind, content=base64.b64encode(content).decode("ascii"))


def _link(path: Path, page: Path) -> str:
    """A relative address, so that a page that moves together with its clips still plays them."""
    # A clip that is a link keeps its own name, which says what kind of file it is.
    target, folder = path.parent.resolve() / path.name, page.resolve().parent
    try:
        return quote(Path(os.path.relpath(target, folder)).as_posix())
    except ValueError:
        return target.as_uri()


VIEWS = """
base.js share.js state.js words.js filter.js charts.js leaderboard.js list.js matrix.js
player.js clip.js compare.js explore.js about.js""".split()
SCRIPTS = (*VIEWS, "embedded.js", "app.js")
SERVED_SCRIPTS = (*VIEWS, "served.js", "live.js", "app.js")
"""Of ``view``, which asks a server for what a report has inside."""
STYLES = ("base.css", "board.css", "explore.css")

MOST_MAILED = 25_000_000  # bytes of a page
_ROOM = 2_000_000  # of these, for what is not sound


class PageFile(NamedTuple):
    """A page that was written; the audio of ``unheard`` clips is gone or has changed.

    ``too_large`` says whether sound was left out of it that would not fit into a mail.
    """

    size: int
    unheard: int
    audio: AudioChoice
    too_large: bool = False


def write_report(
    store: Store,
    data: ReportData,
    path: Path,
    *,
    title: str,
    audio: AudioChoice | Literal["auto"] = "none",
    facts: Mapping[str, Any] | None = None,
    card: Path | None = None,
    sounds: Mapping[str, Sound] | None = None,
) -> PageFile:
    """Write runs of one benchmark as a page; what is computed for it is kept in the store.

    ``auto`` embeds the sound where the page stays small enough for a mail, as one channel of MP3
    where that takes it, and else links to it.
    ``facts`` replace those of the board; ``card`` is written as a picture of it. ``sounds`` are
    all that can be heard, by SHA-256, where they are given.
    """
    write_card = None if card is None else figure_writer(card, scale=1.0)
    clips = [sample.clip for sample in data.samples]
    pairs = compared_pairs(data)  # first: all at once, while the board tests score by score
    board = board_document(store, data, title).model_copy(update=facts)
    board.pairs = pairs
    keep_estimates(store, (one.table for one in data.runs))
    if write_card is not None:
        write_card(draw_card(board, " ".join(map(str, data.signatures(data.headline)))))
    choices: list[AudioChoice] = ["embed", "link"] if audio == "auto" else [audio]
    most = MOST_EMBEDDED if audio == "embed" else (MOST_MAILED - _ROOM) * 3 // 4  # as base64
    if audio == "auto" and sound_size(clips, smaller=True) > most:
        choices = ["link"]
    for choice in choices:
        heard = sounds_of(clips, choice, path, most) if sounds is None else sounds
        page = render_page(
            SCRIPTS,
            choice,
            title=title,
            board=board,
            data=explorer_data(data, heard, board),
            embedded=[one.content for one in heard.values()] if choice == "embed" else [],
        )
        if len(page.encode("utf-8", "replace")) <= MOST_MAILED:
            break
    unheard = sum(bool(one.missing) for one in heard.values())
    too_large = audio == "auto" and choice == "link"
    return PageFile(write_file(path, page), unheard, choice, too_large)


def source_hash(text: str) -> str:
    """How a page's policy names the script or style that may be used in it."""
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"sha256-{base64.b64encode(digest).decode('ascii')}"


def render_page(scripts: tuple[str, ...], audio: AudioChoice = "none", **values: Any) -> str:
    """A page that may run and look as shipped, play its clips, and nothing else."""
    script, style = joined(scripts), joined(STYLES)
    media = {"none": "'none'", "link": "'self' file:", "embed": "blob:"}[audio]
    policy = (
        f"default-src 'none'; script-src '{source_hash(script)}'; "
        f"style-src '{source_hash(style)}'; media-src {media}; img-src data:; base-uri 'none'; "
        "form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    )
    return render("report.html", policy=policy, script=script, style=style, **values)
