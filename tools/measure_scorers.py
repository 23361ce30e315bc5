"""Measures how far metrics agree with people, and what they cost; writes docs/which-metric.md.

Needs the pair files of AudioCaps-Eval and of BRACE-Main, which are not part of the repository. What
is not measured, or cannot be for want of Java or of weights, keeps its rows. Blind scores are those
that tools/blind_scores.py measured.
"""

import argparse
import re
import resource
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from audiocapbench.errors import AudioCapBenchError
from audiocapbench.meta.blind import measured_scores, searched_scorer
from audiocapbench.meta.pairs import CaptionPair, PairSet, pair_set, read_pairs
from audiocapbench.meta.scorers.scorer import Choice, PairScorer, TrialSettings, create_scorer
from audiocapbench.meta.trial import Measures, ScorerTrial, try_scorer
from audiocapbench.meta.votes import one_against_rest

PAGE = Path(__file__).resolve().parents[1] / "docs" / "which-metric.md"
SCORERS = (
    "metric:preference",
    "metric:preference[contrast=none]",
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
KINDS = ("HC", "HI", "HM", "MM")
CORPORA = ("AudioCaps", "Clotho", "MECAT speech, long")
FORMATS: Mapping[str, Callable[[str], str]] = {
    "in quotes": '"{}"'.format,
    "UPPER CASE": str.upper,
    "double spaces": lambda text: text.replace(" ", "  "),
    "a stop more or less": lambda text: text[:-1] if text.endswith(".") else f"{text}.",
    "bold": "**{}**".format,
    '"Caption:"': "Caption: {}".format,
}
HEADS = {
    "measured": ["people's pairs", *KINDS, "BRACE voted", "BRACE set", "F1", "pairs/s"],
    "kinds": ["by 4", "by 3", "by 2", "by 1", "BRACE HH", "BRACE HM", "BRACE MM"],
    "blind": [*(f"blind: {corpus}" for corpus in CORPORA), "as written", *FORMATS],
}
"""The tables of the page, by the mark that they stand under, and their columns."""

_NOTHING = 100_000
_FORMATTED = 600
_UNCHANGED = 1e-9


class Row(NamedTuple):
    """One scorer on both sets, and how many pairs a second of processor time it does."""

    human: ScorerTrial
    main: ScorerTrial
    rate: float

    @property
    def measured(self) -> list[str]:
        human, main = self.human, self.main
        f1 = main.whole["f1"].value
        return [
            _cell(human.whole),
            *(_short(human.groups["type"][kind]) for kind in KINDS),
            _cell(_part(main, voted=True).whole),
            _short(_part(main, voted=False).whole),
            "–" if f1 is None else f"{f1:.1f}",
            _rate(self.rate),
        ]

    @property
    def kinds(self) -> list[str]:
        strength, kind = self.human.groups["strength"], _part(self.main, voted=True).groups["type"]
        return [
            *(_short(strength[votes]) for votes in "4321"),
            *(_short(kind[name]) for name in ("HH", "HM", "MM")),
        ]


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


def one_person(data: Path, human: PairSet) -> dict[str, list[str]]:
    """How often one annotator takes what the others took, of all pairs that were voted on."""
    own, brace = (
        one_against_rest(pairs)
        for pairs in (
            human.pairs,
            read_pairs("brace-main", [data / "brace" / "meta_AudioCaps_Main_v0.json"]),
        )
    )
    if own is None or brace is None:
        raise LookupError("there are no votes")
    kinds = [_short(own.groups["type"][kind]) for kind in KINDS]
    types = [_short(brace.groups["type"][kind]) for kind in ("HH", "HM", "MM")]
    return {
        "measured": [_cell(own.whole), *kinds, _cell(brace.whole), "–", "–", "–"],
        "kinds": ["–"] * 4 + types,
    }


def formatted(name: str, main: PairSet) -> list[str]:
    """What a scorer gives to captions as they are written, and what each format adds to that."""
    pairs = [one for one in main.pairs if one.references_first][:_FORMATTED]
    texts, held_to = [one.first for one in pairs], [one.references_first for one in pairs]
    scorer = searched_scorer(name).score
    plain = scorer(texts, held_to).score
    changes = [
        scorer(list(map(written, texts)), held_to).score - plain for written in FORMATS.values()
    ]
    return [
        f"{plain:.3f}",
        *("0" if abs(one) < _UNCHANGED else f"{one:+.3f}".replace("-", "−") for one in changes),
    ]


def blind(name: str) -> list[str]:
    """The best blind caption and, in brackets, a person's; bold where it is surely above that."""
    rows = {row["corpus"]: row for row in measured_scores(name)}
    found = []
    for corpus in CORPORA:
        if not (row := rows.get(corpus)):
            found.append("–")
            continue
        (value, interval), person = row["blind"], row["person"]
        mark = "**" if (interval or [value])[0] > person else ""
        found.append(f"{mark}{value:.2f}{mark} ({person:.2f})")
    return found


def refreshed(page: str, name: str, rows: Mapping[str, Sequence[str]]) -> str:
    """The page with these rows of a table in place of the same scorers'; best agreement first."""
    begin, end = _marks(name)
    before, _, rest = page.partition(begin)
    made = _rows(page, name) | {
        scorer: f"| {' | '.join([f'`{scorer}`' if ':' in scorer else scorer, *cells])} |"
        for scorer, cells in rows.items()
    }
    agreement = {
        scorer: float(re.findall(r"\d+\.\d", line)[0])
        for scorer, line in (made if name == "measured" else _rows(page, "measured")).items()
    }
    ranked = sorted(made, key=lambda scorer: -agreement.get(scorer, 0))
    head = [f"| {' | '.join(['scorer', *HEADS[name]])} |", f"|---|{'---:|' * len(HEADS[name])}"]
    lines = "\n".join([*head, *(made[scorer] for scorer in ranked)])
    return f"{before}{begin}{lines}\n{end}{rest.partition(end)[2]}"


def _rows(page: str, name: str) -> dict[str, str]:
    """The lines of a table of the page, by scorer."""
    begin, end = _marks(name)
    lines = page.partition(begin)[2].partition(end)[0].splitlines()[2:]
    return {line.split(" | ")[0].strip("|` "): line for line in lines}


def _marks(name: str) -> tuple[str, str]:
    return f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->"


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="folder that holds fense/ and brace/")
    parser.add_argument("--tables", nargs="+", choices=HEADS, default=list(HEADS))
    parser.add_argument("--scorers", nargs="+", default=SCORERS)
    given = parser.parse_args()
    human, brace = sets(given.data)
    write({name: {"one annotator": row} for name, row in one_person(given.data, human).items()})
    for name in given.scorers:
        rows: dict[str, list[str]] = {}
        try:
            if {"measured", "kinds"} & {*given.tables}:
                row = measure(name, human, brace)
                rows |= {"measured": row.measured, "kinds": row.kinds}
            if "blind" in given.tables and not name.startswith("control:"):
                rows["blind"] = [*blind(name), *formatted(name, brace)]
        except AudioCapBenchError as error:
            print(f"{name}: left out: {error}")
            continue
        write({table: {name: row} for table, row in rows.items() if table in given.tables})
        print(name, rows, flush=True)


def write(tables: Mapping[str, Mapping[str, Sequence[str]]]) -> None:
    """Write rows into the tables of the page."""
    page = PAGE.read_text(encoding="utf-8")
    for name, rows in tables.items():
        page = refreshed(page, name, rows)
    PAGE.write_text(page, encoding="utf-8")


def _part(trial: ScorerTrial, *, voted: bool) -> ScorerTrial:
    """The trial on the pairs that people voted on, or on those whose answer was set."""
    both = zip(trial.pairs, trial.choices, strict=True)
    kept = [(one, choice) for one, choice in both if one.answer_set != voted]
    pairs, choices = tuple(pair for pair, _ in kept), tuple(choice for _, choice in kept)
    return replace(trial, pairs=pairs, choices=choices)


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
