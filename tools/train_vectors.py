"""Makes the vectors of ``caption2vec``: one for each word piece of all-MiniLM-L6-v2.

    python tools/train_vectors.py mecat/caption_train/*.jsonl

Each piece goes through MiniLM on its own. The vectors are centred, reduced to 256 dimensions, and
weighed by how rare a piece is in MECAT's short and long captions; then they and their weights are
tuned for 300 steps, so that two captions of a clip are nearer to each other than to those of other
clips. Rows are kept with 8 bits a number. The same captions give the same file on one machine.

MiniLM and its vocabulary are under Apache-2.0, MECAT's captions under CC BY 3.0; the file holds no
caption. Pairs that people compared, and captions of AudioCaps and Clotho, have no part in it.
"""

import argparse
import json
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn.functional import cross_entropy, normalize

from audiocapbench.metrics.encoders import load
from audiocapbench.metrics.encoders.caption2vec import WordPieces
from audiocapbench.metrics.text import plain

FILE = Path(__file__).resolve().parents[1] / (
    "src/audiocapbench/metrics/encoders/weights/caption2vec.npz"
)
DIMENSIONS, FIELDS = 256, ("short", "long")
PIECES_AT_ONCE = 1024
RARITY = 0.01  # of a piece that weighs half as much as one that is never met
STEPS, CLIPS, SEED = 300, 256, 20261118
ROW_RATE, WEIGHT_RATE, TEMPERATURE = 5e-4, 1e-2, 0.05
LARGEST = 127

Floats = NDArray[np.float32]
Tokens = list[list[int]]


def single_pieces(model: Any) -> Floats:
    """What MiniLM makes of each piece between [CLS] and [SEP], the mean of the three."""
    tokenizer, found = model.tokenizer, []
    with torch.inference_mode():
        for start in range(0, len(tokenizer), PIECES_AT_ONCE):
            ids = torch.arange(start, min(start + PIECES_AT_ONCE, len(tokenizer)))
            frame = (tokenizer.cls_token_id, tokenizer.sep_token_id)
            first, last = (torch.full_like(ids, one) for one in frame)
            lines = torch.stack([first, ids, last], dim=1)
            states = model[0].auto_model(lines, attention_mask=torch.ones_like(lines))
            found.append(states.last_hidden_state.mean(dim=1))
    return np.asarray(torch.cat(found), dtype=np.float32)


def reduced(vectors: Floats) -> Floats:
    """The directions in which centred vectors differ most, at a mean length of 1."""
    centred = vectors.astype(np.float64) - vectors.mean(axis=0, dtype=np.float64)
    directions = np.linalg.eigh(centred.T @ centred)[1][:, ::-1][:, :DIMENSIONS]
    table = centred @ directions
    return np.asarray(table / np.linalg.norm(table, axis=1).mean(), dtype=np.float32)


def read_clips(files: Sequence[Path], pieces: WordPieces) -> Iterator[Tokens]:
    """The captions of each clip that has two or more, as pieces."""
    lines = (line for file in files for line in file.read_text("utf-8").splitlines())
    for views in chain.from_iterable(json.loads(line).values() for line in lines):
        captions = dict.fromkeys(plain(text) for field in FIELDS for text in views[field])
        if len(captions) > 1:
            yield pieces.cut(list(captions))


def tuned(table: Floats, clips: Sequence[Tokens]) -> Floats:
    """Rows with their weights, after so many steps on two captions each of some clips."""
    counts = np.bincount(
        list(chain.from_iterable(chain.from_iterable(clips))), minlength=len(table)
    )
    weights = RARITY / (RARITY + counts / counts.sum())
    met, numbers = np.flatnonzero(counts), np.cumsum(counts > 0) - 1
    rows = torch.tensor(table[met], requires_grad=True)
    logs = torch.tensor(np.log(weights[met]), dtype=torch.float32, requires_grad=True)
    rates = {ROW_RATE: rows, WEIGHT_RATE: logs}
    optimiser = torch.optim.Adam([{"params": [one], "lr": rate} for rate, one in rates.items()])
    falling = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda step: 1 - step / STEPS)
    random = np.random.default_rng(SEED)

    def encoded(captions: Tokens) -> Any:
        ids = torch.tensor(numbers[list(chain.from_iterable(captions))])
        owners = torch.repeat_interleave(torch.tensor([len(own) for own in captions]))
        sums = torch.zeros(len(captions), DIMENSIONS)
        return normalize(sums.index_add(0, owners, rows[ids] * logs[ids].exp()[:, None]))

    for step in range(STEPS):
        chosen = [clips[one] for one in random.choice(len(clips), CLIPS, replace=False)]
        two = [random.choice(len(own), 2, replace=False) for own in chosen]
        first, second = (
            encoded([own[pair[side]] for own, pair in zip(chosen, two, strict=True)])
            for side in range(2)
        )
        cosines, right = first @ second.T / TEMPERATURE, torch.arange(CLIPS)
        loss = (cross_entropy(cosines, right) + cross_entropy(cosines.T, right)) / 2
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        falling.step()
        if step % 50 == 49:
            print(f"step {step + 1}: loss {loss.item():.3f}", flush=True)
    made = table * weights[:, None].astype(np.float32)
    made[met] = (rows * logs.exp()[:, None]).detach().numpy()
    return made


def main() -> None:
    """Make the file."""
    parser = argparse.ArgumentParser(description="Make the vectors of caption2vec.")
    parser.add_argument("captions", type=Path, nargs="+", help="MECAT's captions, JSON lines")
    options = parser.parse_args()
    torch.set_num_threads(1)  # sums of one order, so of one result
    model: Any = load("minilm")
    vocabulary = model.model.tokenizer.get_vocab()
    pieces = sorted(vocabulary, key=vocabulary.get)
    clips = list(read_clips(sorted(options.captions), WordPieces(pieces)))
    table = tuned(reduced(single_pieces(model.model)), clips)
    scales = np.abs(table).max(axis=1) / LARGEST
    np.savez(
        FILE,
        vectors=np.rint(table / scales[:, None]).astype(np.int8),
        scales=scales.astype(np.float32),
        pieces=np.frombuffer("\n".join(pieces).encode(), dtype=np.uint8),
    )
    print(f"{len(pieces):,} pieces, {len(clips):,} clips, {FILE.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
