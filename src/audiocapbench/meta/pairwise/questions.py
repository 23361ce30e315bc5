"""Pairs as questions to a model: a benchmark whose samples are pairs in one order of captions."""

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path

from audiocapbench.benchmarks import Benchmark
from audiocapbench.benchmarks.benchmark import TRIAL
from audiocapbench.data import Clip, MissingClip, Sample, facts_of
from audiocapbench.errors import AudioError
from audiocapbench.meta.errors import TrialError
from audiocapbench.meta.pairs.pair import CaptionPair
from audiocapbench.meta.pairwise.prompts import PairwisePrompt
from audiocapbench.meta.scorers.clip_files import find_clip

WITHOUT_CLIPS = "/no-audio"
"""Ends the name of a run that was asked without the clips."""


def questions(
    pairs: Sequence[CaptionPair],
    clips: Mapping[str, Clip],
    prompt: PairwisePrompt,
    root: Path,
    *,
    swapped: bool = False,
    heard: bool = True,
) -> Benchmark:
    """The benchmark that asks about every pair whose clip is there.

    Args:
        pairs: What is compared; ids must differ.
        clips: Clips by their name in the pairs.
        prompt: How it is asked.
        root: The folder of the clips.
        swapped: Whether the second caption stands first.
        heard: Whether the clips are sent; the name says so where they are not.
    """
    samples, missing = [], []
    for position, pair in enumerate(pairs):
        clip = clips.get(pair.clip)
        if clip is None:
            missing.append(MissingClip(id=pair.id, reason="no such clip", file_name=pair.audio))
            continue
        asked = pair.swapped() if swapped else pair
        samples.append(
            Sample(
                id=pair.id,
                clip=clip,
                instruction=prompt.ask(asked),
                references=(asked.first, asked.second),
                category=pair.type,
                position=position,
                details={"order": "swapped" if swapped else "as it stands"},
            )
        )
    name = f"{TRIAL}pairwise/{prompt.name}" + ("/swapped" if swapped else "")
    return Benchmark(name if heard else name + WITHOUT_CLIPS, root, tuple(samples), tuple(missing))


def find_clips(pairs: Sequence[CaptionPair], folder: Path) -> dict[str, Clip]:
    """The clips of pairs that a folder has, by their name in the pairs.

    Raises:
        TrialError: It has none of them, or one cannot be read as audio.
    """
    if not folder.is_dir():
        raise TrialError(f"{folder}: no such folder; --data names the folder with the clips")
    found: dict[str, Clip] = {}
    for pair in pairs:
        if pair.clip in found:
            continue
        path = find_clip(folder, pair.audio or pair.clip)
        if path is not None:
            found[pair.clip] = _clip(folder, path)
    if pairs and not found:
        wanted = pairs[0].audio or pairs[0].clip
        raise TrialError(f"{folder}: has none of the clips, such as {wanted}; check --data")
    return found


def unheard(pairs: Sequence[CaptionPair]) -> dict[str, Clip]:
    """Stand-ins for clips that are not sent."""
    return {
        pair.clip: Clip(
            Path(pair.clip), pair.clip, hashlib.sha256(pair.clip.encode()).hexdigest(), 0.0, 0, 1
        )
        for pair in pairs
    }


def _clip(folder: Path, path: Path) -> Clip:
    try:
        facts = facts_of(path)
    except AudioError as error:
        raise TrialError(f"{error}; mend or remove the file") from None
    name = str(path.relative_to(folder))
    return Clip(path, name, facts.sha256, facts.duration_s, facts.sample_rate, facts.channels)
