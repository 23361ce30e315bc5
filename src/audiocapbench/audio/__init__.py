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
    ".m4a .m4b .m4r .m4v .mp4 .aac .wma .wmv .asf .webm .weba .mka .mkv .mov .avi .flv .3gp .3g2"
    " .amr .caf .au .snd .aifc .w64 .rf64 .voc .sph .mp2 .mpga .mpg .mpeg .ts .ac3 .eac3 .dts .ape"
    " .wv .tta .mpc .spx .dsf .gsm .ra .rm".split()
)
"""What people also keep audio in: some is read with the extra ``formats``, some not at all."""

__all__ = ["EXTENSIONS", "MOST_BYTES", "OTHER_EXTENSIONS", "Mix", "Mono", "Samples", "Waveform"]
__all__ += ["decode", "decoding", "encode", "open_stream", "probe", "probe_and_hash"]
__all__ += ["read_bytes", "sha256", "wav", "why_cut"]
