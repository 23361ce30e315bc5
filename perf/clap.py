"""SLIDE-CLAP in batches side by side with two loops over the same clips, in one process.

The loops are what one would write first: every window alone through transformers' feature
extractor and model, and every clip alone through our encoder. Weights are random and nothing is
downloaded: speed does not depend on them. Run ``python perf/clap.py --size full --device cuda``
on a GPU. Time is that of the whole way: reading, resampling, cutting, encoding; on a processor it
is processor time of one core, so that a busy machine slows none; on a GPU, or with more than one
of ``--threads``, it is wall time.
"""

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import soundfile

from audiocapbench import audio
from audiocapbench.metrics.clap import AudioTextEncoder, Cutting, load_encoder
from audiocapbench.metrics.clap.embedding import Embedder
from audiocapbench.metrics.clap.laion import _room
from audiocapbench.metrics.clap.resampling import Recorded, filters
from audiocapbench.metrics.encoders.encoder import Vectors

FILE_RATE = 44_100
TINY_AUDIO = {
    "hidden_size": 192,
    "patch_embeds_hidden_size": 24,
    "depths": [1, 1, 1, 1],
    "num_attention_heads": [2, 2, 4, 4],
}
TINY_TEXT = {
    "vocab_size": 300,
    "hidden_size": 32,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "intermediate_size": 32,
}


class Rate(NamedTuple):
    """A way to encode, what it gave, and how many windows a second."""

    name: str
    vectors: Vectors
    a_second: float


def save_model(folder: Path, size: str) -> None:
    """A ClapModel with random weights, of the published size or a tiny one, with its input."""
    import torch
    from tokenizers import Tokenizer, models
    from transformers import ClapConfig, ClapFeatureExtractor, ClapModel, PreTrainedTokenizerFast

    torch.manual_seed(0)
    parts = {"text_config": TINY_TEXT, "audio_config": TINY_AUDIO} if size == "tiny" else {}
    ClapModel(ClapConfig(**parts)).save_pretrained(folder)
    ClapFeatureExtractor(truncation="rand_trunc").save_pretrained(folder)
    words = Tokenizer(models.WordLevel({"<s>": 0, "<pad>": 1, "</s>": 2, "<unk>": 3}, "<unk>"))
    special = {"pad_token": "<pad>", "unk_token": "<unk>"}
    PreTrainedTokenizerFast(tokenizer_object=words, **special).save_pretrained(folder)


def write_clips(folder: Path, count: int, seconds: float) -> list[Path]:
    """Stereo noises, each with another tone in it."""
    paths = []
    for number in range(count):
        times = np.arange(round(seconds * FILE_RATE)) / FILE_RATE
        tone = 0.3 * np.sin(2 * np.pi * (100 + 30 * number) * times)
        noise = np.random.default_rng(number).normal(0, 0.05, (len(times), 2))
        paths.append(folder / f"{number}.wav")
        soundfile.write(paths[-1], tone[:, np.newaxis] + noise, FILE_RATE)
    return paths


class Peer(NamedTuple):
    """transformers' own feature extractor and model."""

    extractor: Any
    model: Any
    device: str


def load_peer(folder: Path, device: str) -> Peer:
    """Both parts, ready to be asked."""
    from transformers import ClapFeatureExtractor, ClapModel

    model: Any = ClapModel.from_pretrained(folder).eval().to(device)
    return Peer(ClapFeatureExtractor.from_pretrained(folder), model, device)


def window_by_window(paths: list[Path], peer: Peer) -> Vectors:
    """transformers' own way, a window at a time."""
    import torch

    extractor = peer.extractor
    rate, rows = extractor.sampling_rate, []
    for path in paths:
        samples = audio.decode(path).mono().resampled(rate).samples[:, 0]
        found = []
        for start in range(0, max(1, len(samples) - 6 * rate), rate):
            looped = np.resize(samples[start : start + 7 * rate], extractor.nb_max_samples)
            inputs = extractor(looped, sampling_rate=rate, return_tensors="pt").to(peer.device)
            with torch.inference_mode():
                out = peer.model.get_audio_features(**inputs)
            found.append(getattr(out, "pooler_output", out)[0].cpu().numpy())
        rows.append(np.mean(found, axis=0))
    return np.stack(rows)


def clip_by_clip(paths: list[Path], encoder: AudioTextEncoder) -> Vectors:
    """Our encoder, a clip at a time."""
    rows = []
    for path in paths:
        samples = audio.decode(path).mono().resampled(encoder.windows.rate).samples[:, 0]
        cutting = Cutting(encoder.windows)
        (view,) = cutting.views(samples, "", cutting.settings)
        parts = [samples[cut.start : cut.stop] for cut in view[1]]
        cuts = np.stack([np.resize(part, encoder.windows.input) for part in parts])
        rows.append(np.mean(encoder.encode_audio(cuts), axis=0))
    return np.stack(rows)


def batched(paths: list[Path], encoder: AudioTextEncoder, batch: int) -> Vectors:
    """The windows of all clips together, as ``clap_scores`` does it."""
    found, _ = Embedder(encoder, Cutting(encoder.windows), batch=batch).clips(paths)
    return np.concatenate([found[path] for path in paths])


def resampled(paths: list[Path], encoder: Any, clock: Callable[[], float]) -> str:
    """Clips a second at the model's rate, by soxr on one core and by the device beside it."""
    sounds = [soundfile.read(path, dtype="int16", always_2d=True)[0] for path in paths]
    rate = encoder.windows.rate
    start = clock()
    theirs = [audio.Waveform(one / np.float32(2**15), FILE_RATE) for one in sounds]
    expected = [one.mono().resampled(rate).samples[:, 0] for one in theirs]
    soxr_s = clock() - start
    filters(FILE_RATE, rate)
    recorded = [Recorded(one, FILE_RATE, rate) for one in sounds]
    size = _room(recorded[0], encoder._log_mel.hop)
    placed = [(one, size * at) for at, one in enumerate(recorded)]
    encoder._placed(placed[:1], size)
    start = clock()
    ours = np.asarray(encoder._placed(placed, size * len(placed)).cpu()).reshape(len(placed), -1)
    ours = ours[:, : len(expected[0])]
    took_s = clock() - start
    apart = max(np.abs(one - other)[9:].max() for one, other in zip(ours, expected, strict=True))
    each = f"soxr {len(paths) / soxr_s:,.0f} clips/s, the device {len(paths) / took_s:,.0f}"
    return f"resampled from {FILE_RATE:,} Hz: {each}, {apart:.1e} of full scale apart"


def rate(name: str, windows: int, clock: Callable[[], float], work: Callable[[], Vectors]) -> Rate:
    """Run something once."""
    start = clock()
    vectors = work()
    return Rate(name, vectors, windows / (clock() - start))


def main() -> None:
    """Measure and print windows a second, and how many times the loop's each is."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", choices=["tiny", "full"], default="tiny")
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--clips", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--batch", type=int, default=16)
    options = parser.parse_args()
    alone = options.device == "cpu" and options.threads == 1
    clock = time.process_time if alone else time.perf_counter
    if options.device == "cpu":
        import torch

        torch.set_num_threads(options.threads)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        save_model(folder, options.size)
        paths = write_clips(folder, options.clips, options.seconds)
        encoder = load_encoder("laion", {"path": place}, options.device)
        own = encoder.windows
        windows = len(paths) * len(own.starts(round(options.seconds * own.rate)))
        peer = load_peer(folder, options.device)
        # Warm-up: the first call of each size chooses kernels and fills caches.
        batched(paths, encoder, options.batch)
        clip_by_clip(paths[:1], encoder)
        window_by_window(paths[:1], peer)
        ways: dict[str, Callable[[], Vectors]] = {
            "window by window, transformers": lambda: window_by_window(paths, peer),
            "clip by clip": lambda: clip_by_clip(paths, encoder),
            "batched": lambda: batched(paths, encoder, options.batch),
        }
        rates = [rate(name, windows, clock, work) for name, work in ways.items()]
        said = resampled(paths, encoder, clock)
    print(f"{options.size} model on {options.device}, {len(paths)} clips, {windows} windows")
    for one in rates:
        apart = float(np.abs(one.vectors - rates[0].vectors).max())
        times = one.a_second / rates[0].a_second
        print(f"{one.name:32}{one.a_second:9,.1f} windows/s{times:8.2f}x   apart {apart:.1e}")
    print(said)


if __name__ == "__main__":
    main()
