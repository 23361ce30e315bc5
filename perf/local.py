"""Clips a second of ``local/…`` on a full-size model with random weights, beside bare ``generate``.

    python perf/local.py [--model qwen2-audio|tiny|card] [--batches 8,32,128,auto,compiled]

The model is Qwen2-Audio-7B as its config class describes it; weights are drawn on the device, so
nothing is downloaded. Random weights never end an answer: every clip costs all its tokens. "bare"
has its tensors ready on the device and does nothing but generate; "ours" is a whole run: WAV files
decoded, features, batches, outcomes committed to a store. Both have a thread whose kernels are
planned already, by questions of the same length. "bare" is measured before and after, as a machine
that others use changes its speed within minutes. ``auto`` is what is asked where no batch is
written: the first run finds it, the second remembers it and stands beside that size alone.
``compiled`` is ``compile=yes``.
``card`` needs no GPU: in place of the network it only launches small operations, as many for a
batch of any size, which is what a fast card waits for. The last lines are the engine alone, with a
model that answers at once.
"""

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

import tiny_audio_models as tiny  # noqa: E402
from audiocapbench.audio import Waveform, wav  # noqa: E402
from audiocapbench.benchmarks import open_benchmark  # noqa: E402
from audiocapbench.data.outcome import Reply  # noqa: E402
from audiocapbench.engine import run_benchmark  # noqa: E402
from audiocapbench.engine.retrying_client import prepare  # noqa: E402
from audiocapbench.models import AudioContract, BatchModel, ModelSettings, Question  # noqa: E402
from audiocapbench.models.local import LocalModel  # noqa: E402
from audiocapbench.store import Store  # noqa: E402
from folders import write_folder, write_lines  # noqa: E402

SECONDS = 10.0
BATCHES = 32
LAUNCHES = 2_000  # some 45 ms a token, as on an H200
INSTRUCTION = "Describe the sounds in this clip in one sentence."


def write_clips(folder: Path, count: int) -> Path:
    """Clips of ten seconds of noise, at the rate and width that datasets have."""
    draw = np.random.default_rng(0)
    (folder / "clips").mkdir(parents=True)
    rows = []
    for number in range(count):
        samples = draw.normal(0, 0.1, (int(SECONDS * 44_100), 1)).astype(np.float32)
        (folder / "clips" / f"{number}.wav").write_bytes(wav(Waveform(samples, 44_100)))
        rows.append({"file_name": f"clips/{number}.wav", "id": f"{number}", "references": ["A."]})
    write_lines(folder, rows)
    return folder


def checkpoint(folder: Path, kind: str) -> Any:
    """The network on its device; the folder has all but the weights."""
    import torch
    from transformers import (
        Qwen2AudioConfig,
        Qwen2AudioForConditionalGeneration,
        Qwen2AudioProcessor,
        WhisperFeatureExtractor,
    )

    tiny.qwen2_audio(folder)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    network = Qwen2AudioForConditionalGeneration.from_pretrained(folder).to(device).eval()
    if kind == "tiny":
        return network
    words = Qwen2AudioProcessor.from_pretrained(folder)
    config = Qwen2AudioConfig(audio_token_index=words.audio_token_id)
    config.save_pretrained(folder)
    template, tokens = words.chat_template, words.tokenizer
    extractor = WhisperFeatureExtractor(feature_size=config.audio_config.num_mel_bins)
    Qwen2AudioProcessor(extractor, tokens, chat_template=template).save_pretrained(folder)
    if kind == "card":
        network.generate = launch
        return network
    with torch.device(device):
        torch.set_default_dtype(torch.bfloat16)
        network = Qwen2AudioForConditionalGeneration(config).eval()
        torch.set_default_dtype(torch.float32)
    return network


def launch(input_ids: Any, max_new_tokens: int, **_: Any) -> Any:
    """Tokens for which the processor does as much as if there were a large model on a card."""
    import torch

    layer, state = torch.nn.Linear(4, 4), torch.zeros(1, 4)
    for _launch in range(max_new_tokens * LAUNCHES):
        layer(state)
    return torch.cat([input_ids, torch.full((len(input_ids), max_new_tokens), 5)], dim=1)


def stages(model: LocalModel, folder: Path, batch: int) -> str:
    """Seconds of a batch before the device has it, one thing after the other."""
    samples = open_benchmark(str(folder)).samples[:batch]
    began = time.perf_counter()
    sent = [prepare(one.clip, model.contract) for one in samples]
    read = time.perf_counter()
    model._prepare([Question("", INSTRUCTION, one) for one in sent])
    return f"reading {read - began:.2f} s, tensors {time.perf_counter() - read:.2f} s"


def bare(
    model: LocalModel, network: Any, instruction: str, batch: int, clips: int, tokens: int
) -> float:
    """Clips a second of ``generate`` alone, by the cache of its own that a model has."""
    import torch

    clip = np.random.default_rng(1).normal(0, 0.1, int(SECONDS * 16_000)).astype(np.float32)
    inputs = model.processor.inputs([(instruction, clip)] * batch)
    inputs = inputs.to(network.device, network.dtype)
    given: dict[str, Any] = {"do_sample": False, "eos_token_id": [0], "pad_token_id": 0}
    given |= {"cache_implementation": "static"} if model.processor.pad_to else {}

    def generate() -> None:
        with torch.inference_mode():
            network.generate(**inputs, max_new_tokens=tokens, min_new_tokens=tokens, **given)
        if torch.cuda.is_available():
            torch.cuda.synchronize()

    thread, rounds = model._device_thread, max(1, min(4, clips // batch, 256 // batch))
    thread.submit(generate).result()
    began = time.perf_counter()
    for _ in range(rounds):
        thread.submit(generate).result()
    return rounds * batch / (time.perf_counter() - began)


def ours(model: Any, folder: Path, place: Path) -> float:
    """Clips a second of a whole run."""
    benchmark = open_benchmark(str(folder))
    store = Store.open(str(place / f"{time.monotonic_ns()}.db"))
    began = time.perf_counter()
    end = run_benchmark(benchmark, model, store)
    took = time.perf_counter() - began
    store.close()
    if end.statuses["failed"] or sum(end.statuses.values()) < len(benchmark.samples):
        raise SystemExit(f"not all were answered: {end.statuses}")
    return len(benchmark.samples) / took


class AtOnce(BatchModel):
    """Answers at once: what is left is the engine."""

    contract = AudioContract("none")

    def __init__(self, batch: int) -> None:
        super().__init__(f"at-once/{batch}")
        self.batch = batch

    def answer_many(self, questions: Sequence[Question]) -> list[Reply]:
        return [Reply("Rain.") for _ in questions]


def main() -> None:
    """Measure, and print a table and a line of JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", choices=["qwen2-audio", "tiny", "card"], default="qwen2-audio")
    parser.add_argument("--batches", default="8,32,128,auto,compiled")
    parser.add_argument("--clips", type=int, default=1024)
    parser.add_argument("--tokens", type=int, default=64)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as root:
        place = Path(root)
        began = time.perf_counter()
        (place / "checkpoint").mkdir()
        network = checkpoint(place / "checkpoint", given.model)
        count = sum(one.numel() for one in network.parameters()) / 1e9
        took = time.perf_counter() - began
        print(f"{given.model}: {count:.2f} G parameters on {network.device} in {took:.0f} s")
        rows: list[list[Any]] = []
        clips = given.clips
        for asked in given.batches.split(","):
            option = {"auto": "", "compiled": "[compile=yes]"}.get(asked, f"[batch={asked}]")
            name = f"local/{place / 'checkpoint'}{option}"
            if asked.isdecimal():
                # As many batches of each size: few clips would be mostly the first of them.
                clips = max(8, min(given.clips, BATCHES * int(asked)))
            folder = place / f"clips-{clips}"
            if not folder.exists():
                write_clips(folder, clips)
            # Each clip has an instruction of its own, and a batch the length of its longest.
            asks = (one.instruction for one in open_benchmark(str(folder)).samples)
            instruction = max(asks, key=len)
            for round_ in range(2 if asked == "auto" else 1):
                model = LocalModel(name, ModelSettings(max_tokens=given.tokens))
                model._network, model._ends = network, {0}  # drawn here, not read from the folder
                batch = model.batch
                print(f"batch {asked:>8}: {stages(model, folder, batch)}")
                alone = []
                if asked != "auto" or round_:  # the first begins with a size that is not its own
                    alone.append(bare(model, network, instruction, batch, clips, given.tokens))
                whole = ours(model, folder, place)
                size = model.batch
                alone.append(bare(model, network, instruction, size, clips, given.tokens))
                rows.append([asked, size, alone, whole])
                told = " and ".join(f"{one:.2f}" for one in alone)
                share = whole * len(alone) / sum(alone)
                print(
                    f"batch {asked:>8}: bare {told} clips/s, ours {whole:.2f}, {share:.2f} of it; "
                    f"{size} at once in the end"
                )
        overhead = []
        small = write_folder(place / "small", 500)
        for batch in (1, 32):
            began = time.process_time()
            overhead.append(1000 / ours(AtOnce(batch), small, place))
            computed = 1000 * (time.process_time() - began) / 500
            said = f"{overhead[-1]:.2f} ms a sample, {computed:.2f} ms of them computing"
            print(f"engine alone, batch {batch:2}: {said}")
    print(json.dumps({"clips_per_s": rows, "engine_ms": overhead}))


if __name__ == "__main__":
    main()
