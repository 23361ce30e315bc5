"""CLAP and SLIDE-CLAP: captions scored against the sound itself (extra ``local``)."""

from audiocapbench.metrics.clap.encoder import LAION, AudioTextEncoder, identity, load_encoder
from audiocapbench.metrics.clap.scoring import SeedSpread, choose_cutting, clap_scores, sign_clap
from audiocapbench.metrics.clap.windows import PRESETS, Cutting, Windows

__all__ = ["LAION", "PRESETS", "AudioTextEncoder", "Cutting", "SeedSpread", "Windows"]
__all__ += ["choose_cutting", "clap_scores", "identity", "load_encoder", "sign_clap"]
