"""wordllama's static vectors, two data files of its wheel; never downloads.

Release 0.1.0 has a wheel for every machine; later ones hold the same vectors and will do as well.
"""

import re
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from audiocapbench.errors import MetricError
from audiocapbench.metrics.encoders.encoder import fingerprint
from audiocapbench.metrics.encoders.static import StaticEncoder

_WHOLE = re.compile(r"^ |  |[<▁]| \Z")  # where a token may go on beyond a space
_WEIGHTS = "weights/l2_supercat_256.safetensors"
_TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"


def load_wordllama() -> StaticEncoder:
    """Load the vectors that the wordllama wheel carries, and not the package itself."""
    spec = find_spec("wordllama")
    folder = Path(spec.origin).parent if spec and spec.origin else Path()
    weights_file, tokenizer_file = folder / _WEIGHTS, folder / _TOKENIZER
    if not (spec and weights_file.is_file() and tokenizer_file.is_file()):
        raise MetricError(
            "The encoder 'wordllama', of older signatures, needs two data files of its package; "
            "leave it out, or: pip install --force-reinstall 'audiocapbench[wordllama]'."
        )
    from safetensors import safe_open
    from tokenizers import Tokenizer

    with safe_open(weights_file, framework="np", device="cpu") as weights:
        table = np.ascontiguousarray(weights.get_tensor("embedding.weight"), dtype=np.float32)
    # Releases differ in whether this file ends with a line break.
    described = tokenizer_file.read_bytes().rstrip() + b"\n"
    name = f"wordllama@{fingerprint([weights_file, described])}"
    tokenizer, last = Tokenizer.from_buffer(described), len(table) - 1

    def cut(words: list[str]) -> list[list[int]]:
        lines = tokenizer.encode_batch(words, add_special_tokens=False)
        return [[min(one, last) for one in line.ids] for line in lines]

    return StaticEncoder(name, table, cut, _WHOLE)
