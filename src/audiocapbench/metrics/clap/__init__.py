"""CLAP and SLIDE-CLAP: captions scored against the sound itself (extra ``local``)."""

from audiocapbench.metrics.clap.encoder import (
    LAION,
    AudioTextEncoder,
    choose_device,
    identity,
    load_encoder,
)
from audiocapbench.metrics.clap.scoring import (
    ClapScores,
    Spread,
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
    "Slide",
    "Spread",
    "Windows",
    "choose_cutting",
    "choose_device",
    "clap_scores",
    "identity",
    "load_encoder",
    "sign_clap",
]
