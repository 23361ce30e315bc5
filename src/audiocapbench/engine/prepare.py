"""Audio as a model's contract asks for it: converted, cut or refused, and hashed."""

from typing import Literal, cast

from audiocapbench import audio
from audiocapbench.data import Clip
from audiocapbench.errors import AudioError
from audiocapbench.models import AudioContract, SentAudio

# How much longer than its header says a clip may be and still be cut: lengths of MP3 are estimates.
_SPARE_S = 1.0


def prepare(clip: Clip, contract: AudioContract) -> SentAudio | None:
    """Make what is sent for a clip; None where the model takes no audio.

    AudioError where the clip cannot be read, is not what it was when the benchmark was opened, or
    is more than the model takes.
    """
    if contract.container == "none":
        return None
    if clip.is_absent:
        raise AudioError(f"{clip.file_name}: there is no audio; only its references were given")
    as_it_is = contract.container == "file"
    too_long = contract.longest_s is not None and clip.duration_s > contract.longest_s
    if too_long and (contract.past_limit == "reject" or as_it_is):
        raise AudioError(
            f"{clip.file_name}: is {clip.duration_s:.1f} s long; "
            f"this model takes at most {contract.longest_s:g} s"
        )
    limit = min(contract.largest_bytes or audio.MOST_BYTES, audio.MOST_BYTES)
    try:
        sent = _sent(clip, contract, limit)
    except AudioError as error:
        # What is kept and shown names the clip, not where it lies on somebody's disk.
        raise AudioError(error.reason, subject=f"{clip.file_name}:") from None
    size = len(sent.content)
    if size > limit:
        if not as_it_is:  # it was not converted to its end
            frame = sent.channels * (4 if sent.container == "float32" else 2)
            size = max(size, round(clip.duration_s * sent.rate) * frame)
        who = "this model takes" if limit == contract.largest_bytes else "a clip may have"
        raise AudioError(
            f"{clip.file_name}: is {size / 1e6:.1f} MB as sent; {who} at most {limit / 1e6:g} MB"
        )
    return sent


def _sent(clip: Clip, contract: AudioContract, most: int) -> SentAudio:
    is_file = contract.container == "file"
    content = audio.read_bytes(clip.path, audio.MOST_BYTES) if is_file else b""
    digest = audio.sha256(content if is_file else clip.path)
    if digest != clip.sha256:
        again = "run again to ask about the clip that is there now"
        raise AudioError(f"has changed since the benchmark was opened; {again}")
    if is_file:
        return SentAudio(content, "file", clip.rate, clip.channels, clip.duration_s, digest)
    container = cast(Literal["wav", "pcm16", "float32"], contract.container)
    spare_s = None if contract.past_limit == "truncate" else _SPARE_S
    cut = {"seconds": contract.longest_s, "spare_s": spare_s}
    with audio.open_stream(clip.path, mono=contract.mono, rate=contract.rate, **cut) as stream:
        shape = (stream.rate, stream.channels)
        content, frames = audio.encode(stream.blocks, *shape, container, most)
    return SentAudio(content, container, *shape, frames / stream.rate, audio.sha256(content))
