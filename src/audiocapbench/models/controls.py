"""Controls: models whose quality is known beforehand, so that a metric can be seen to work.

``right`` answers with one of the clip's references, which then no longer counts as one; ``safe``
with a generic sentence; ``wrong`` with a reference of another clip; ``empty`` with nothing.
"""

import hashlib
from collections.abc import Mapping, Sequence

from audiocapbench.data.outcome import Reply, Status
from audiocapbench.data.sample import Sample
from audiocapbench.errors import ModelError
from audiocapbench.models.model import AudioContract, Question

KINDS = ("right", "safe", "wrong", "empty")

_SAFE = {
    "sound": "A sound is heard in the background.",
    "music": "An instrumental piece of music with a steady beat and a pleasant mood.",
    "speech": "A person is speaking in a clear voice.",
    "mixed": "A person is speaking with a sound in the background.",
    "silence": "There is almost no sound in the recording.",
}
_SAFE_ANYWHERE = "A sound is heard."


class Control:
    """One of the four controls; needs no audio, only the benchmark's samples."""

    contract = AudioContract("none")
    cacheable = False
    concurrency = 1

    def __init__(self, kind: str, seed: int = 0) -> None:
        if kind not in KINDS:
            choices = ", ".join(f"control/{one}" for one in KINDS)
            raise ModelError(f"there is no control/{kind}; choose one of {choices}")
        self._kind = kind
        self._seed = seed
        self._samples: dict[str, Sample] = {}
        self._order: list[str] = []

    @property
    def name(self) -> str:
        """The name to ask for it by."""
        return f"control/{self._kind}"

    @property
    def parameters(self) -> Mapping[str, str | int | float | bool]:
        """The seed, where it decides anything."""
        return {"seed": self._seed} if self._kind in ("right", "wrong") else {}

    def prepare(self, samples: Sequence[Sample]) -> None:
        """Remember all samples: a filter must not change which clip is the wrong one."""
        self._samples = {sample.id: sample for sample in samples}
        self._order = [sample.id for sample in sorted(samples, key=lambda one: one.position)]

    async def answer(self, question: Question) -> Reply:
        """Answer as the kind of control says."""
        sample = self._samples[question.sample_id]
        match self._kind:
            case "right":
                return self._right(sample)
            case "safe":
                return Reply(_SAFE.get(sample.category, _SAFE_ANYWHERE))
            case "wrong":
                return self._wrong(sample)
            case _:
                return Reply("", Status.EMPTY)

    def _right(self, sample: Sample) -> Reply:
        if len(set(sample.references)) < 2:
            reason = "has one reference; control/right needs another one to be scored against"
            return Reply("", Status.SKIPPED, f"{sample.id} {reason}")
        index = self._draw(sample.id, "right") % len(sample.references)
        return Reply(sample.references[index], withheld=index)

    def _wrong(self, sample: Sample) -> Reply:
        own = set(sample.references)
        start = self._draw(sample.id, "wrong") % len(self._order)
        for step in range(len(self._order)):
            other = self._samples[self._order[(start + step) % len(self._order)]]
            if other.clip.sha256 == sample.clip.sha256:
                continue
            index = self._draw(sample.id, other.id) % len(other.references)
            if other.references[index] not in own:
                return Reply(other.references[index])
        reason = "control/wrong needs another clip with other references"
        return Reply("", Status.SKIPPED, f"{sample.id}: {reason}")

    def _draw(self, *parts: str) -> int:
        """A number that depends on the seed and the words alone, on every machine."""
        text = "\0".join([str(self._seed), *parts])
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
