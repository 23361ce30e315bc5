"""Audio as a model's contract asks for it: converted, cut or refused, and hashed."""

from audiocapbench import audio
from audiocapbench.data import Clip
from audiocapbench.errors import AudioError
from audiocapbench.models import AudioContract, SentAudio


def prepare(clip: Clip, contract: AudioContract) -> SentAudio | None:
    """Make what is sent for a clip; None where the model takes no audio."""
    if contract.container == "none":
        return None
    too_long = contract.longest_s is not None and clip.duration_s > contract.longest_s
    if too_long and (contract.past_limit == "reject" or contract.container == "file"):
        raise AudioError(
            f"{clip.file_name}: is {clip.duration_s:.1f} s long; "
            f"this model takes at most {contract.longest_s:g} s"
        )
    source: Clip | audio.Waveform = clip
    if contract.container == "file":
        content = _bytes(clip)
    else:
        source = waveform = _converted(clip, contract)
        content = audio.wav(waveform) if contract.container == "wav" else audio.pcm16(waveform)
    if contract.largest_bytes is not None and len(content) > contract.largest_bytes:
        raise AudioError(
            f"{clip.file_name}: is {len(content) / 1e6:.1f} MB as sent; "
            f"this model takes at most {contract.largest_bytes / 1e6:g} MB"
        )
    shape = (source.rate, source.channels, source.duration_s)
    return SentAudio(content, contract.container, *shape, audio.sha256(content))


def _bytes(clip: Clip) -> bytes:
    try:
        return clip.path.read_bytes()
    except OSError as error:
        raise AudioError(f"{clip.path}: cannot be read ({error.strerror})") from None


def _converted(clip: Clip, contract: AudioContract) -> audio.Waveform:
    waveform = audio.decode(clip.path)
    if contract.longest_s is not None:
        waveform = waveform.first(contract.longest_s)
    if contract.mono:
        waveform = waveform.mono()
    return waveform if contract.rate is None else waveform.resampled(contract.rate)
