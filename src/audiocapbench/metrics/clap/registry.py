"""Audio-text models by name: LAION's, and those that packages bring.

Packages bring models of their own by the entry point ``audiocapbench.audio_text_encoders``: a
function that takes the options of the name and the device, and returns an ``AudioTextEncoder``.
For Microsoft's CLAP this is the whole plug-in::

    # clap_plugin.py
    from pathlib import Path

    import torch
    from audiocapbench.metrics.clap import PRESETS, choose_device
    from audiocapbench.metrics.encoders.encoder import fingerprint
    from msclap import CLAP

    class MicrosoftClap:
        dimensions = 1024

        def __init__(self, version, device):
            self.name = f"ms-clap-{version}"
            self.windows = PRESETS[self.name]
            self._device = choose_device(device)
            self._model = CLAP(version=version, use_cuda=self._device == "cuda")
            self.fingerprint = fingerprint([Path(self._model.model_fp)])

        def encode_audio(self, windows):
            # Shape (n, samples) in; msclap wants a channel between the two.
            batch = torch.from_numpy(windows).unsqueeze(1).to(self._device)
            return self._model._get_audio_embeddings(batch).cpu().numpy()

        def encode_text(self, texts):
            return self._model.get_text_embeddings(texts).cpu().numpy()

    def create(options, device):
        return MicrosoftClap(options.pop("version", "2023"), device)

    # pyproject.toml
    [project.entry-points."audiocapbench.audio_text_encoders"]
    msclap = "clap_plugin:create"

It is then named ``msclap`` or ``msclap[version=2022]``. An option that ``create`` leaves in the
dictionary is refused as unknown.
"""

from collections.abc import Mapping

from audiocapbench.errors import AudioCapBenchError, MetricError
from audiocapbench.metrics.clap.encoder import DEVICES, AudioTextEncoder
from audiocapbench.metrics.clap.laion import load_laion
from audiocapbench.metrics.clap.windows import Windows
from audiocapbench.plugins import plugins

LAION = {
    "laion": "laion/clap-htsat-unfused",
    "laion-fused": "laion/clap-htsat-fused",
    "laion-general": "laion/larger_clap_general",
    "laion-music": "laion/larger_clap_music",
    "laion-music-speech": "laion/larger_clap_music_and_speech",
}
"""LAION's models by short name, and where the Hugging Face hub keeps them."""


def load_encoder(
    name: str, options: Mapping[str, str] | None = None, device: str = "auto"
) -> AudioTextEncoder:
    """Load a model.

    Args:
        name: One of ``LAION``, or the name of a plug-in.
        options: For LAION's models ``path`` (a folder on disk), ``model`` (a name on the Hugging
            Face hub) and ``download`` (yes or no); for a plug-in, its own.
        device: ``cpu``, ``cuda``, or ``auto`` for the GPU where there is one.

    Raises:
        MetricError: There is no such model, it is not on this disk, or it cannot be loaded.
    """
    if device not in DEVICES:
        raise MetricError(f"there is no device {device!r}; choose {', '.join(DEVICES)}")
    left = dict(options or {})
    encoder = _load(name, left, device)
    if left:
        raise MetricError(f"the audio-text encoder {name!r} has no option {', '.join(left)}")
    return encoder


def _load(name: str, options: dict[str, str], device: str) -> AudioTextEncoder:
    if name in LAION:
        return load_laion(name, LAION[name], options, device)
    found = plugins("audio_text_encoders").get(name)
    if found is None:
        known = ", ".join([*LAION, *sorted(plugins("audio_text_encoders"))])
        raise MetricError(f"there is no audio-text encoder {name!r}; there are {known}")
    try:
        encoder = found.load()(options, device)
    except AudioCapBenchError:
        raise
    except Exception as error:  # a plug-in may raise anything
        raise MetricError(
            f"audio-text encoder {name!r}: its plug-in {found.value} fails ({error})"
        ) from error
    if not isinstance(encoder, AudioTextEncoder) or not isinstance(encoder.windows, Windows):
        raise MetricError(f"audio-text encoder {name!r}: {found.value} returned something else")
    return encoder
