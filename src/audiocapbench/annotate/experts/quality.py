"""Expert ``quality``: DNSMOS by speechmos; its weights come with the package."""

from typing import Any

from audiocapbench.annotate.expert import ClipAudio, Options, package_version

_RATE = 16_000


class _Quality:
    name, needs, domains = "quality", "speechmos", ""

    def __init__(self) -> None:
        self.version = package_version("quality", "speechmos", "librosa", "onnxruntime")

    def analyse(self, clip: ClipAudio) -> dict[str, Any]:
        """Mean opinion scores from 1 to 5; they are of speech, and say less of other sounds."""
        from speechmos import dnsmos

        found = dnsmos.run(clip.mono(_RATE), sr=_RATE, return_df=False)
        return {
            "overall_mos": float(found["ovrl_mos"]),
            "signal_mos": float(found["sig_mos"]),
            "background_mos": float(found["bak_mos"]),
            "p808_mos": float(found["p808_mos"]),
        }


def create(_: Options) -> _Quality:
    """It has no options."""
    return _Quality()
