"""Ask the original Penn Treebank tokenizer what it does with every character of Unicode's first
plane, and print the table ``kinds`` of ``metrics/ptb/characters.toml``.

It needs Java and the jar that pycocoevalcap carries: ``stanford-corenlp-3.4.1.jar``.
"""

import argparse
import subprocess
import tempfile
import textwrap
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

FIRST, LAST = 0x80, 0xFFFF
LINE_ENDS = frozenset("\x85\u2028\u2029")
STAND_INS = dict(
    zip("\u00e9\u0301\u0660\u00a7\uffff\u00b2\u2082\u207a\u00a0\u2000", "LMDSXPBGNW", strict=True)
)
PROBES = (
    *("X", "aXb", "1Xa", "XX", "X.com", "a@X", "1X1/2", "no.X5", "\u207bX", "\u00b3X", "X\u2083"),
    # Where case does not matter, some characters count as an S, an I or a K.
    *("Xt. a", "Xnc. a", "oXla. a"),
)


def original_tokens(jar: Path, texts: Sequence[str]) -> list[str]:
    """Each text's tokens with spaces between, in lower case; no text may have a line break."""
    # A line between texts, because the original looks at the line that follows.
    lines = [line for text in texts for line in (text, "zq")]
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "texts.txt")
        source.write_text("\n".join(lines), encoding="utf-8")
        command = ["java", "-Dfile.encoding=UTF-8", "-cp", str(jar)]
        command += ["edu.stanford.nlp.process.PTBTokenizer", "-preserveLines", "-lowerCase"]
        done = subprocess.run([*command, str(source)], capture_output=True, check=True)
    answer = done.stdout.decode("utf-8").split("\n")[: len(lines)]
    if set(answer[1::2]) != {"zq"}:
        raise SystemExit("The original broke a line where a text has none.")
    return answer[::2]


def kinds(jar: Path) -> str:
    """The letter of each character's kind, from the first on: that of a stand-in that fares alike.

    The first stand-in that fares alike in every probe counts.
    """
    surrogates = range(0xD800, 0xE000)
    letters = dict.fromkeys(LINE_ENDS, "E") | {chr(code): "X" for code in surrogates}
    asked = [chr(code) for code in range(FIRST, LAST + 1) if chr(code) not in letters]
    left = {one: list(STAND_INS) for one in asked}
    for probe in PROBES:
        tokens = original_tokens(jar, [probe.replace("X", one) for one in [*STAND_INS, *asked]])
        own = dict(zip([*STAND_INS, *asked], tokens, strict=True))
        for one in asked:
            # A sigma at the end of a word has a lower case of its own.
            small = own[one].replace("\u03c2", "\u03c3") if one == "\u03a3" else own[one]
            seen = small.replace(one.lower(), one)
            left[one] = [kind for kind in left[one] if own[kind].replace(kind, one) == seen]
    letters |= {one: STAND_INS[alike[0]] if alike else "T" for one, alike in left.items()}
    return "".join(letters[chr(code)] for code in range(FIRST, LAST + 1))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("jar", type=Path, help="stanford-corenlp-3.4.1.jar")
    runs = groupby(kinds(parser.parse_args().jar))
    print(textwrap.fill(" ".join(f"{kind}{len(list(own)):x}" for kind, own in runs), 99))


if __name__ == "__main__":
    main()
