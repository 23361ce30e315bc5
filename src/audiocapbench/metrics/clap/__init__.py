"""CLAP and SLIDE-CLAP: captions scored against the sound itself (extra ``local``)."""

from audiocapbench.metrics.clap.encoder import AudioTextEncoder, choose_device, identity
from audiocapbench.metrics.clap.registry import LAION, load_encoder
from audiocapbench.metrics.clap.scoring import (
    ClapScores,
    SeedSpread,
    choose_cutting,
    clap_scores,
    sign_clap,
)
from audiocapbench.metrics.clap.windows import PRESETS, Crops, Cutting, Slide, Windows

__all__ = [
    "LAION",
    "PRESETS",
    "AudioTextEncoder",
    "ClapScores",
    "Crops",
    "Cutting",
    "SeedSpread",
    "Slide",
    "Windows",
    "choose_cutting",
    "choose_device",
    "clap_scores",
    "identity",
    "load_encoder",
    "sign_clap",
]
