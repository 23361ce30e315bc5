"""Measures what attacks gain by each scorer, and writes the tables of docs/cheating.md.

    python tools/measure_attacks.py FOLDER

FOLDER has the captions of AudioCaps and Clotho, which are not part of the repository. The table of
blind play is made of what tools/blind_scores.py measured.
"""

import argparse
from pathlib import Path

from audiocapbench.meta.blind import measured_scores
from audiocapbench.meta.cheat import CheatTrial, attack_pairs, cheat
from audiocapbench.meta.corrupt.captions import caption_set
from audiocapbench.meta.scorers.scorer import create_scorer
from blind_scores import MECAT, TABLES, captions_of

PAGE = Path(__file__).resolve().parents[1] / "docs" / "cheating.md"
CLIPS = 200
EVERY = 100_000
ATTACKED = (
    *("metric:preference", "judge:elements", "metric:fluent_similarity", "metric:similarity"),
    *("metric:date", "metric:cider_d", "metric:meteor", "metric:rouge_l", "metric:bleu_1"),
    *("metric:bleu_4", "metric:fluency"),
)
SEARCHED = (
    *("metric:cider_d", "metric:meteor", "metric:rouge_l", "metric:bleu_4", "metric:similarity"),
    *("metric:fluent_similarity", "metric:coverage", "metric:date", "judge:elements"),
    *("metric:preference", "metric:preference[contrast=none]"),
)
CORPORA = (*TABLES, *MECAT)


def attacks(folder: Path, corpus: str) -> list[str]:
    """Gains in percent of the honest score; bold where an attack wins beyond chance."""
    own = enumerate(captions_of(folder, corpus, EVERY))
    clips = caption_set([(str(clip), str(clip), texts) for clip, texts in own]).clips
    pairs = attack_pairs(clips, limit=CLIPS)
    trials = [cheat(create_scorer(name), pairs) for name in ATTACKED]
    names = [f"`{name.partition(':')[2]}`" for name in ATTACKED]
    rows = [["attack", *names], ["---", *["---:"] * len(names)]]
    rows += [[name, *(_gain(one, name) for one in trials)] for name in trials[0]["attacks"]]
    rows.append(["*honest score*", *(f"{one['honest']:.2f}" for one in trials)])
    return [f"| {' | '.join(row)} |" for row in rows]


def _gain(trial: CheatTrial, attack: str) -> str:
    own = trial["attacks"][attack]
    share = 100 * own["gain"] / trial["honest"]
    return f"**{share:+.1f}**" if own["succeeds"] else f"{round(share):+d}".replace("+0", "0")


def searched() -> list[str]:
    """The best blind caption and, in brackets, a person's; bold where it is surely above that."""
    rows = [["scorer", *CORPORA], ["---", *["---:"] * len(CORPORA)]]
    for name in SEARCHED:
        measured = {row["corpus"]: row for row in measured_scores(name)}
        cells = []
        for corpus in CORPORA:
            if corpus not in measured:
                cells.append("–")
                continue
            (value, interval), person = measured[corpus]["blind"], measured[corpus]["person"]
            mark = "**" if person is not None and (interval or [value])[0] > person else ""
            shown = "" if person is None else f" ({person:.2f})"
            cells.append(f"{mark}{value:.2f}{mark}{shown}")
        rows.append([f"`{name.removeprefix('metric:')}`", *cells])
    return [f"| {' | '.join(row)} |" for row in rows]


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?", help="blind play alone without it")
    given = parser.parse_args()
    tables = {"searched": searched()}
    if given.folder:
        tables |= {corpus: attacks(given.folder, corpus) for corpus in ("AudioCaps", "Clotho")}
    page = PAGE.read_text(encoding="utf-8")
    for name, lines in tables.items():
        begin, end = f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->"
        before, _, rest = page.partition(begin)
        page = before + begin + "\n".join(lines) + "\n" + end + rest.partition(end)[2]
    PAGE.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
