"""Audio files in and out; nothing here believes what a file says of itself."""

from audiocapbench.audio.reader import (
    decode,
    decoding,
    open_stream,
    probe,
    probe_and_hash,
    read_bytes,
    sha256,
)
from audiocapbench.audio.waveform import MOST_BYTES, Samples, Waveform, encode, wav

EXTENSIONS = frozenset({".wav", ".flac", ".ogg", ".oga", ".opus", ".mp3", ".aif", ".aiff"})

__all__ = ["EXTENSIONS", "MOST_BYTES", "Samples", "Waveform", "decode", "decoding", "encode"]
__all__ += ["open_stream", "probe", "probe_and_hash", "read_bytes", "sha256", "wav"]
