"""Audio-text models by name: LAION's, MS-CLAP, M2D-CLAP, and those that plug-ins bring.

Packages bring models of their own by the entry point ``audiocapbench.audio_text_encoders``: a
function that takes the options of the name and the device, and returns an ``AudioTextEncoder``.
``docs/extending.md`` has one. An option that the function leaves in the dictionary is refused.
"""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from audiocapbench.errors import AudioCapBenchError, MetricError, did_you_mean
from audiocapbench.metrics.clap.encoder import DEVICES, AudioTextEncoder
from audiocapbench.metrics.clap.laion import load_laion
from audiocapbench.metrics.clap.packages import PACKAGES, load_package
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

LOADED_BY = "_loaded_by"
"""The attribute of an encoder with what it was loaded by: other machines load it so too."""


def load_encoder(
    name: str, options: Mapping[str, str] | None = None, device: str = "auto"
) -> AudioTextEncoder:
    """Load one of ``LAION``'s models, of ``PACKAGES`` or a plug-in's.

    Options are ``path`` (a folder on disk), ``model`` (a name on the Hugging Face hub) and
    ``download`` (yes or no), or a plug-in's own; devices are ``cpu``, ``cuda`` and ``auto``.

    Raises:
        MetricError: There is no such model, it is not on this disk, or it cannot be loaded.
    """
    if device not in DEVICES:
        raise MetricError(f"there is no device {device!r}; choose {', '.join(DEVICES)}")
    given = dict(options or {})
    left = given.copy()
    if name in LAION:
        encoder: AudioTextEncoder = load_laion(name, LAION[name], left, device)
    elif name in PACKAGES:
        encoder = load_package(name, left, device)
    else:
        encoder = _from_plugin(name, left, device)
    if left:
        raise MetricError(f"the audio-text encoder {name!r} has no option {', '.join(left)}")
    if given.get("path"):
        given["path"] = str(Path(given["path"]).absolute())
    with suppress(AttributeError):  # a plug-in's may take none, and then travels as it is
        setattr(encoder, LOADED_BY, (name, given, device))
    return encoder


def _from_plugin(name: str, options: dict[str, str], device: str) -> AudioTextEncoder:
    found = plugins("audio_text_encoders").get(name)
    if found is None:
        known = [*LAION, *PACKAGES, *sorted(plugins("audio_text_encoders"))]
        near = did_you_mean(name, known, "there are")
        raise MetricError(f"there is no audio-text encoder {name!r}{near}")
    try:
        encoder = found.load()(options, device)
    except AudioCapBenchError:
        raise
    except (Exception, SystemExit) as error:  # a plug-in may raise anything
        raise MetricError(
            f"audio-text encoder {name!r}: its plug-in {found.value} fails ({error})"
        ) from error
    if not isinstance(encoder, AudioTextEncoder) or not isinstance(encoder.windows, Windows):
        raise MetricError(f"audio-text encoder {name!r}: {found.value} returned something else")
    return encoder
