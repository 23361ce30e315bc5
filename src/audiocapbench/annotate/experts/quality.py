"""Expert ``quality``: DNSMOS by speechmos; its weights come with the package."""

from typing import Any

from audiocapbench.annotate.experts import ClipAudio, Options, package_version

_RATE = 16_000


class QualityExpert:
    """Mean opinion scores from 1 to 5; they are of speech, and say less of other sounds."""

    name, needs, domains = "quality", "speechmos", ""

    def __init__(self, _: Options) -> None:
        self.version = package_version("quality", "speechmos", "librosa", "onnxruntime")

    def analyse(self, clip: ClipAudio) -> dict[str, Any]:
        """Overall, of the signal, of the background, and as P.808 has it."""
        from speechmos import dnsmos

        found = dnsmos.run(clip.mono(_RATE), sr=_RATE, return_df=False)
        names = {"overall": "ovrl", "signal": "sig", "background": "bak", "p808": "p808"}
        return {f"{name}_mos": float(found[f"{short}_mos"]) for name, short in names.items()}
