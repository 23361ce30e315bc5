"""CLAP and sentence encoders on one GPU: the whole way beside the bare model, in one process.

The whole way is that of ``clap_scores``: hashing, decoding, mixing down, resampling, copying,
cutting, log-mel and the audio tower. The bare model gets pictures that lie on the GPU already, in
batches of the same size. "Samples in memory" leaves out the reading, and reading alone says what
the processor's cores could feed. Weights are random, of the published size: speed does not depend
on them. How far scores and choices move from ``exact`` is counted with random directions in place
of captions, two for each clip.

``python perf/gpu.py`` needs a GPU; ``--sentences FOLDER`` names a sentence-transformers folder.
"""

import argparse
import os
import struct
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from audiocapbench.metrics.clap import Cutting, load_encoder
from audiocapbench.metrics.clap.embedding import BatchEncoder, Embedder
from audiocapbench.metrics.clap.reading import ClipReader
from audiocapbench.metrics.encoders import load
from audiocapbench.metrics.encoders.encoder import Vectors, computing

MODES = ({}, {"precision": "tf32"}, {"precision": "bf16"}, {"precision": "bf16", "compile": "yes"})
CLIPS = ((2_500, 400, 400), (3_500, 3_500, 700), (3_500, 3_500, 0), (10_000, 12_000, 1_000))
WORDS = """a the dog barks loudly while man speaks and rain falls on metal roof then car engine
starts birds sing in background children laugh water flows into sink wind blows hard door closes
bell rings twice crowd cheers music plays softly woman talks over radio train passes by""".split()


class Way(NamedTuple):
    """Clips of one kind."""

    name: str
    rate: int
    seconds: float


def save_model(folder: Path) -> None:
    """A ClapModel of the published size whose random weights let signals through."""
    import torch
    from tokenizers import Tokenizer, models
    from transformers import ClapConfig, ClapFeatureExtractor, ClapModel, PreTrainedTokenizerFast

    torch.manual_seed(0)
    model = ClapModel(ClapConfig())
    with torch.no_grad():
        for weights in model.audio_model.parameters():
            if weights.ndim > 1:
                weights.normal_(0, weights[0].numel() ** -0.5)
    model.save_pretrained(folder)
    ClapFeatureExtractor(truncation="rand_trunc").save_pretrained(folder)
    words = Tokenizer(models.WordLevel({"<s>": 0, "<pad>": 1, "</s>": 2, "<unk>": 3}, "<unk>"))
    special = {"pad_token": "<pad>", "unk_token": "<unk>"}
    PreTrainedTokenizerFast(tokenizer_object=words, **special).save_pretrained(folder)


def write_clips(folder: Path, count: int, way: Way) -> list[Path]:
    """Stereo WAV files of 16 bits: noise that swells, with tones; a hundred, and parts of them."""
    frames = round(way.seconds * way.rate)
    noise = np.random.default_rng(0).normal(0, 1_000, (frames, 2)).astype(np.float32)
    times = np.arange(frames, dtype=np.float32) / way.rate
    header = struct.Struct("<4sI4s4sIHHIIHH4sI")
    folder.mkdir()
    kinds, paths = [], []
    for number in range(100):
        drawn = np.random.default_rng(number)
        tone = 6_000 * np.sin(2 * np.pi * drawn.uniform(60, 6_000) * times, dtype=np.float32)
        loud = 0.1 + np.square(np.sin(drawn.uniform(0.1, 3) * times, dtype=np.float32))
        mixed = noise * np.float32(drawn.uniform(0.01, 3)) + tone[:, np.newaxis]
        kinds.append((mixed * loud[:, np.newaxis]).astype("<i2").tobytes())
    for number in range(count):
        data, turn = kinds[number % len(kinds)], 3_988 * (number // len(kinds))
        paths.append(folder / f"{number}.wav")
        shape = (b"fmt ", 16, 1, 2, way.rate, way.rate * 4, 4, 16, b"data", len(data))
        with paths[-1].open("wb") as file:
            file.write(header.pack(b"RIFF", 36 + len(data), b"WAVE", *shape))
            file.write(data[turn:])
            file.write(data[:turn])
    return paths


def seconds_of(work: Callable[[], object]) -> float:
    """Wall time of work on the GPU, to its end."""
    import torch

    torch.cuda.synchronize()
    start = time.perf_counter()
    work()
    torch.cuda.synchronize()
    return time.perf_counter() - start


def tower_rate(encoder: Any, mode: dict[str, str], rounds: int = 12) -> float:
    """Windows a second of the bare audio tower."""
    import torch

    pictures = torch.randn(encoder.batch, 1, 1001, 64, device="cuda") * 20 - 40
    with computing(mode.get("precision", "exact")):
        encoder._embed(pictures)
        took = seconds_of(lambda: [encoder._embed(pictures) for _ in range(rounds)])
    return rounds * encoder.batch / took


def embed(encoder: Any, paths: Sequence[Path]) -> tuple[Vectors, float]:
    """The whole way: embeddings of clips, and seconds."""
    found: list[Any] = []
    took = seconds_of(
        lambda: found.append(Embedder(encoder, Cutting(encoder.windows)).clips(paths))
    )
    return np.concatenate([found[0][0][path] for path in paths]), took


def memory_rate(encoder: Any, paths: Sequence[Path], rounds: int = 6) -> float:
    """Windows a second where all samples are at hand: what is left is copying and computing."""
    reader = ClipReader(encoder.windows.rate, raw=True, resamples=encoder.resamples)
    sounds: list[Any] = [clip.sound for clip in reader.clips(paths)]
    views = [next(Cutting(encoder.windows).views(one, "", ["x"]))[1] for one in sounds]
    cuts = [cut for _ in range(rounds) for some in views for cut in some]
    return len(cuts) / seconds_of(lambda: list(BatchEncoder(encoder).cuts(cuts)))


def reading_rate(encoder: Any, paths: Sequence[Path]) -> float:
    """Clips a second that the processor alone hashes, decodes and holds ready."""
    reader = ClipReader(encoder.windows.rate, raw=True, resamples=encoder.resamples)
    return len(paths) / seconds_of(lambda: [clip.sha256 for clip in reader.clips(paths)])


def moved(exact: Vectors, other: Vectors) -> str:
    """How far scores and choices of two captions a clip move, of random directions."""
    drawn = np.random.default_rng(1)
    captions = drawn.normal(size=(200, 2, exact.shape[1]))
    captions /= np.linalg.norm(captions, axis=2, keepdims=True)
    sets = [one / np.linalg.norm(one, axis=1, keepdims=True) for one in (exact, other)]
    before, after = (np.einsum("id,kcd->ikc", one, captions) for one in sets)
    flips = (before[..., 0] > before[..., 1]) != (after[..., 0] > after[..., 1])
    moves = np.abs(after - before)
    return f"scores by {moves.mean():.1e}, at most {moves.max():.1e}; {flips.mean():.3%} of choices"


def clap(folder: Path) -> None:
    """The table of CLAP."""
    save_model(folder / "model")
    ways = [
        Way("10 s at 48 kHz", 48_000, 10),
        Way("10 s at 44.1 kHz", 44_100, 10),
        Way("30 s at 48 kHz", 48_000, 30),
    ]
    clips = [
        write_clips(folder / way.name, count, way)
        for way, count in zip(ways, CLIPS[-1], strict=True)
    ]
    exact: Vectors | None = None
    for mode, counts in zip(MODES, CLIPS, strict=True):
        encoder: Any = load_encoder("laion", {"path": str(folder / "model"), **mode}, "cuda")
        name = "+".join(mode.values()).replace("yes", "compiled") or "exact"
        warm = seconds_of(lambda e=encoder: embed(e, clips[0][-1500:]))
        bare, held = tower_rate(encoder, mode), memory_rate(encoder, clips[0][:512])
        print(f"{name}: batch {encoder.batch}, ready in {warm:.0f} s")
        print(f"  bare tower {bare:,.0f}/s; samples in memory {held:,.0f}/s")
        for way, paths, count in zip(ways, clips, counts, strict=True):
            for _ in range(2 if count else 0):
                vectors, took = embed(encoder, paths[:count])
                whole = count * windows_of(way, encoder) / took
                print(f"  {way.name}: {whole:,.0f} windows/s, {whole / bare:.2f} of the bare tower")
            if count and way is ways[0]:
                exact = vectors if exact is None else exact
                print(f"  moved from exact: {moved(exact, vectors[: len(exact)])}")
    for way, paths in zip(ways, clips, strict=True):
        rate = reading_rate(encoder, paths)
        windows = rate * windows_of(way, encoder)
        print(f"reading alone, {way.name}: {rate:,.0f} clips/s, {windows:,.0f} windows/s")


def windows_of(way: Way, encoder: Any) -> int:
    """How many windows a clip has."""
    return len(encoder.windows.starts(round(way.seconds * encoder.windows.rate)))


def sentences(folder: str, count: int = 100_000) -> None:
    """Captions a second of a sentence encoder, beside sentence-transformers' own way."""
    drawn = np.random.default_rng(0)
    lengths = drawn.integers(6, 20, count)
    texts = [" ".join(drawn.choice(WORDS, length)) for length in lengths]
    exact: Vectors | None = None
    for suffix in ("", "-tf32", "-bf16"):
        encoder: Any = load(f"{folder}{suffix}")
        encoder.encode(texts[:20_000])
        found: list[Vectors] = []
        rate = count / seconds_of(lambda e=encoder, f=found: f.append(e.encode(texts)))
        exact = found[0] if exact is None else exact
        moves = np.abs((found[0] * found[0][::-1]).sum(1) - (exact * exact[::-1]).sum(1)).max()
        print(
            f"{encoder.name}: {rate:,.0f} captions/s, {encoder._tokens} tokens a batch, "
            f"cosines moved by at most {moves:.1e}"
        )
    plain = load(folder).model
    took = seconds_of(lambda: plain.encode(texts[:20_000], batch_size=64))
    print(f"sentence-transformers, batches of 64: {20_000 / took:,.0f} captions/s")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sentences", default="", help="also measure this sentence encoder")
    parser.add_argument("--folder", help="where clips are written for the time, 46 GB")
    options = parser.parse_args()
    import torch

    print(f"{torch.cuda.get_device_name()}, {os.cpu_count()} cores, torch {torch.__version__}")
    if options.sentences:
        sentences(options.sentences)
    with tempfile.TemporaryDirectory(dir=options.folder) as place:
        clap(Path(place))


if __name__ == "__main__":
    main()
