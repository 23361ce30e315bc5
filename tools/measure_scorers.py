"""Measures how far metrics agree with people, and what they cost; writes docs/which-metric.md.

Needs the pair files of AudioCaps-Eval and of BRACE-Main, which are not part of the repository. What
cannot be computed here, for want of Java or of weights, keeps no row.
"""

import argparse
import re
import resource
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from audiocapbench.errors import AudioCapBenchError
from audiocapbench.meta.pairs import CaptionPair, PairSet, pair_set, read_pairs
from audiocapbench.meta.scorers.scorer import Choice, PairScorer, TrialSettings, create_scorer
from audiocapbench.meta.trial import Measures, ScorerTrial, try_scorer

PAGE = Path(__file__).resolve().parents[1] / "docs" / "which-metric.md"
BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"
SCORERS = (
    "metric:preference",
    "metric:preference[encoder=minilm]",
    "metric:coverage",
    "judge:elements",
    "metric:fluent_similarity[encoder=minilm]",
    "metric:fluent_similarity",
    "metric:similarity[encoder=minilm]",
    "metric:similarity",
    "metric:date",
    "metric:meteor_1_5",
    "metric:meteor",
    "metric:cider_d",
    "metric:rouge_l",
    "metric:rouge_l_coco",
    "metric:bleu_coco_4",
    "metric:bleu_4",
    "metric:bleu_1",
    "metric:fluency",
    "control:longer",
    "control:shorter",
    "control:likelier",
    "control:rarer-noun",
    "control:random",
    "control:always-0",
    "control:always-1",
)
HEAD = (
    "| scorer | people's pairs | HC | HI | HM | MM | BRACE voted | BRACE set | F1 | pairs/s |",
    "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
)
_NOTHING = 100_000


class Row(NamedTuple):
    """One scorer on both sets, and how many pairs a second of processor time it does."""

    human: ScorerTrial
    main: ScorerTrial
    rate: float

    def __str__(self) -> str:
        human, main = self.human, self.main
        kinds = [_short(human.groups["type"][kind]) for kind in ("HC", "HI", "HM", "MM")]
        f1 = main.whole["f1"].value
        cells = [
            f"`{human.scorer}`",
            _cell(human.whole),
            *kinds,
            _cell(_part(main, voted=True)),
            _short(_part(main, voted=False)),
            "–" if f1 is None else f"{f1:.1f}",
            _rate(self.rate),
        ]
        return f"| {' | '.join(cells)} |"


def sets(data: Path) -> tuple[PairSet, PairSet]:
    """Human pairs of AudioCaps-Eval, and BRACE-Main of AudioCaps."""
    human = read_pairs("human", [data / "fense" / "audiocaps_eval_pairs.json"])
    main = read_pairs("brace-main", [data / "brace" / "AudioCaps_Main.json"])
    return pair_set("human", human), pair_set("brace-main", main)


def measure(name: str, human: PairSet, main: PairSet) -> Row:
    """Try one scorer on both sets."""
    fense = TrialSettings(protocol="fense")
    scorers = _Timed(create_scorer(name, fense)), _Timed(create_scorer(name))
    trials = try_scorer(scorers[0], human), try_scorer(scorers[1], main)
    spent = sum(scorer.spent_s for scorer in scorers)
    return Row(*trials, (len(human.pairs) + len(main.pairs)) / max(spent, 1e-3))


class _Timed(PairScorer):
    """A scorer whose choosing is timed; the intervals of a trial are not the scorer's cost."""

    def __init__(self, scorer: PairScorer) -> None:
        self._scorer = scorer
        self.name = scorer.name
        self.needs_corpus = scorer.needs_corpus
        self.spent_s = 0.0

    def choose(self, pairs: Sequence[CaptionPair]) -> Sequence[Choice]:
        started = _processor_s()
        choices = self._scorer.choose(pairs)
        self.spent_s += _processor_s() - started
        self.signature = self._scorer.signature
        return choices


def table(rows: Sequence[Row]) -> str:
    """The table of the page, best agreement with people first."""
    ranked = sorted(rows, key=lambda row: -(row.human.whole["accuracy"].value or 0.0))
    return "\n".join([*HEAD, *map(str, ranked)])


def refreshed(page: str, made: str) -> str:
    """The page with another table between its marks."""
    pattern = re.compile(f"{re.escape(BEGIN)}.*?{re.escape(END)}", re.DOTALL)
    return pattern.sub(lambda _: f"{BEGIN}\n{made}\n{END}", page)


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="folder that holds fense/ and brace/")
    parser.add_argument("--print", action="store_true", help="print the table, write nothing")
    parser.add_argument("scorers", nargs="*", default=SCORERS)
    given = parser.parse_args()
    human, brace = sets(given.data)
    rows = []
    for name in given.scorers:
        try:
            rows.append(measure(name, human, brace))
        except AudioCapBenchError as error:
            print(f"{name}: left out: {error}")
            continue
        print(rows[-1], flush=True)
    if not given.print:
        page = PAGE.read_text(encoding="utf-8")
        PAGE.write_text(refreshed(page, table(rows)), encoding="utf-8")


def _part(trial: ScorerTrial, *, voted: bool) -> Measures:
    """Figures of the pairs that people voted on, or of those whose answer was set."""
    both = zip(trial.pairs, trial.choices, strict=True)
    kept = [(one, choice) for one, choice in both if one.answer_set != voted]
    pairs, choices = tuple(pair for pair, _ in kept), tuple(choice for _, choice in kept)
    return replace(trial, pairs=pairs, choices=choices).whole


def _processor_s() -> float:
    """Processor time of this process and of programs that it has run, such as Java."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def _cell(figures: Measures) -> str:
    interval = figures["accuracy"].interval
    ends = f" ({interval.low:.1f}–{interval.high:.1f})" if interval else ""
    return f"{_short(figures)}{ends}"


def _short(figures: Measures) -> str:
    value = figures["accuracy"].value
    return "–" if value is None else f"{value:.1f}"


def _rate(rate: float) -> str:
    if rate > _NOTHING:
        return f"> {_NOTHING:,}"
    digits = 10 ** max(0, len(f"{rate:.0f}") - 2)
    return f"{round(rate / digits) * digits:,}"


if __name__ == "__main__":
    main()
