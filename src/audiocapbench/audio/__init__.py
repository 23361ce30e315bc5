"""Audio files in and out; nothing here believes what a file says of itself."""

from audiocapbench.audio.reader import (
    decode,
    decoding,
    open_stream,
    probe,
    probe_and_hash,
    read_bytes,
    sha256,
    why_cut,
)
from audiocapbench.audio.waveform import MOST_BYTES, Mix, Mono, Samples, Waveform, encode, wav

EXTENSIONS = frozenset({".wav", ".flac", ".ogg", ".oga", ".opus", ".mp3", ".aif", ".aiff"})
OTHER_EXTENSIONS = frozenset(
    ".m4a .mp4 .aac .wma .webm .mka .mkv .mov .avi .3gp .amr .caf .au .w64 .ac3 .ape .wv".split()
)
"""What people also keep audio in: some is read with the extra ``formats``, some not at all."""

__all__ = ["EXTENSIONS", "MOST_BYTES", "OTHER_EXTENSIONS", "Mix", "Mono", "Samples", "Waveform"]
__all__ += ["decode", "decoding", "encode", "open_stream", "probe", "probe_and_hash"]
__all__ += ["read_bytes", "sha256", "wav", "why_cut"]
