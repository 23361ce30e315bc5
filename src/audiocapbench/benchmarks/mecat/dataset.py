"""MECAT: what is asked about its clips, checked field by field, and the answers in files.

A dataset folder of ``audiocapbench build mecat`` has the audio; the published JSON lines, a file a
domain, are enough to score. A row of captions has ``captions``, a list for each of the six
sub-tasks, and ``domain``; one of questions has ``instruction``, ``references`` (the answer alone),
``qa_category``, ``difficulty``, ``domain`` and ``clip``. What is wrong is refused.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack

from audiocapbench.asking import ClipOptions
from audiocapbench.benchmarks.benchmark import Benchmark
from audiocapbench.benchmarks.mecat import groups
from audiocapbench.benchmarks.traits import base_name
from audiocapbench.data import Clip, InvalidDataError, Problem, Sample, open_folder
from audiocapbench.data.folder import METADATA
from audiocapbench.data.records import json_lines
from audiocapbench.data.row import MetadataRow, read_row
from audiocapbench.errors import BenchmarkError, DatasetError, check_known
from audiocapbench.metrics.names import ScorerName, parse_name
from audiocapbench.metrics.shipped import read_lists

I1, I2 = "i1", "i2"
"""Tables I.1, for Audio-Flamingo 2 and Kimi-Audio, and I.2, for all other models."""

CAPTION_FIELDS = ("domain", *groups.SUBTASKS)
QUESTION_FIELDS = ("category", "difficulty", "domain", "question", "answer")
"""What is published of a clip's captions, and of a question."""

_WORDS: Mapping[str, Collection[str]] = {
    "category": groups.QA_CATEGORIES,
    "difficulty": groups.DIFFICULTIES,
    "domain": groups.DOMAINS,
}
_TITLES = {True: "MECAT-Caption", False: "MECAT-QA"}
_LARGEST_POSITION = 2**31 - 1
_SHOWN = 5


def caption_prompt(subtask: str, prompts: str = I2) -> str:
    """The paper's prompt (appendix I) that asks for a caption of one kind."""
    check_known("prompts", prompts, (I1, I2), BenchmarkError)
    return str(read_lists("audiocapbench.benchmarks", "prompts/mecat.json")[prompts][subtask])


def load_captions(
    data: Path = Path(groups.CAPTION),
    prompts: str = I2,
    probes: str = groups.NO_PROBES,
    *,
    references: Path | None = None,
    **clips: Unpack[ClipOptions],
) -> Benchmark:
    """MECAT: up to six captions of each of 20,052 clips, in nine groups; [prompts=i1] asks as it
    asked Audio-Flamingo 2 and Kimi-Audio, [probes=silence] also what counts in no group.

    The folder is that of the captions, or has ``caption`` and ``qa`` in it.
    """
    caption_prompt(groups.SUBTASKS[0], prompts)
    groups.is_asked("", "", probes)
    given = {"probes": probes, "prompts": prompts}
    options = {name: one for name, one in given.items() if one not in (groups.NO_PROBES, I2)}
    whole = _load(str(ScorerName(groups.CAPTION, options)), data, references, clips)
    asked = [
        replace(one, instruction=caption_prompt(one.details["subtask"], prompts))
        for one in whole.samples
        if groups.is_asked(one.category, one.details["domain"], probes)
    ]
    return replace(whole, samples=tuple(asked))


def load_questions(
    data: Path = Path(groups.QA), references: Path | None = None, **clips: Unpack[ClipOptions]
) -> Benchmark:
    """MECAT: five questions about each clip, in six categories."""
    return _load(groups.QA, data, references, clips)


def _load(name: str, data: Path, references: Path | None, clips: ClipOptions) -> Benchmark:
    """All captions of a clip, or its questions, whether they are asked or not."""
    plain = base_name(name)
    traits, parts = groups.TRAITS[plain], groups.PARTS[plain]
    if references is not None:
        # Clips are known by name.
        items = (replace(one, position=at) for at, one in enumerate(read_items(name, references)))
        root = references if references.is_dir() else references.parent
        return Benchmark(name, root, items, (), traits, parts=parts)
    both = data / ("qa" if name == groups.QA else "caption")
    chosen = both if both.is_dir() and not (data / METADATA).is_file() else data
    if not any(chosen.glob("metadata.*")):
        raise BenchmarkError(
            f"{chosen}: has no {METADATA}, so no clips; make a folder with 'audiocapbench build "
            f"mecat' and name it (`data` DIR, or {plain}=DIR), or score answers with "
            f"'score --benchmark {plain} --references DIR'"
        )
    folder = open_folder(chosen, **clips)
    problems: list[Problem] = []
    samples: list[Sample] = []
    step = 1 if name == groups.QA else len(groups.SUBTASKS)
    for row, clip, position in folder.entries:
        first = position * step
        if first + step - 1 > _LARGEST_POSITION:
            problems.append(Problem(row.key, "position", "is too large for six captions a clip"))
        found = samples_of(name, row.key, _row_fields(name, row), row.key, problems)
        samples += [replace(one, clip=clip, position=at) for at, one in enumerate(found, first)]
    _refuse(folder.root, plain, problems, samples)
    splits = {str(row.details["split"]) for row, _, _ in folder.entries if "split" in row.details}
    if splits:
        # Never to be taken for the test split, which the published numbers are of.
        options = parse_name(name).options | {"split": "+".join(sorted(splits))}
        name = str(ScorerName(plain, options))
    samples.sort(key=lambda sample: sample.position)
    return Benchmark(name, folder.root, samples, folder.missing, traits, parts=parts)


def samples_of(
    benchmark: str, key: str, fields: Mapping[str, Any], where: str, problems: list[Problem]
) -> list[Sample]:
    """``CLIP/SUBTASK`` of a clip's captions, or a question with its answer as the only reference.

    What is wrong goes into ``problems``. Where the clip's key is not known, it is the question's
    without an underscore and a hash.
    """
    captions = groups.asks_for_captions(benchmark)
    wrong = field_problems(CAPTION_FIELDS if captions else QUESTION_FIELDS, fields, where)
    problems += wrong
    if wrong:
        return []
    domain = fields["domain"]
    if captions:
        samples = []
        for subtask in groups.SUBTASKS:
            details = {"clip": key, "subtask": subtask, "domain": domain}
            asked = ("", tuple(fields[subtask]), groups.corpus_of(subtask, domain))
            samples.append(Sample(f"{key}/{subtask}", Clip.absent(key), *asked, 0, details))
        return samples
    clip = str(fields.get("clip") or key.rpartition("_")[0] or key)
    details = {"clip": clip, "domain": domain, "difficulty": fields["difficulty"]}
    asked = (fields["question"], (fields["answer"],), fields["category"])
    return [Sample(key, Clip.absent(clip), *asked, 0, details)]


def field_problems(names: Sequence[str], fields: Mapping[str, Any], where: str) -> list[Problem]:
    problems = []
    for name in names:
        value, known = fields.get(name), _WORDS.get(name)
        if known is not None:
            fits = isinstance(value, str) and value in known
            what = f"is {value!r:.40}, not one of {', '.join(known)}"
        elif name in groups.SUBTASKS:
            fits = isinstance(value, list) and bool(value) and all(map(_is_text, value))
            what = "is not a list of captions with words in each"
        else:
            fits, what = _is_text(value), "is missing, blank or not text"
        if not fits:
            problems.append(Problem(where, name, what))
    return problems


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip()) and "\0" not in value


def _row_fields(benchmark: str, row: MetadataRow) -> dict[str, Any]:
    """What a row of a dataset folder says, under the names that are published."""
    own = row.details
    if groups.asks_for_captions(benchmark):
        captions = own.get("captions")
        return {**(captions if isinstance(captions, dict) else {}), "domain": own.get("domain")}
    asked = {"question": row.instruction, "answer": row.references[0]}
    return own | asked | {"category": own.get("qa_category")}


def read_items(benchmark: str, place: Path) -> list[Sample]:
    """What a benchmark asks, without its audio, in the order of the files.

    The place is a folder of .jsonl files, one that holds ``caption_test`` and ``qa_test``, a single
    such file, or a dataset folder.
    """
    captions = groups.asks_for_captions(benchmark)
    items: dict[str, Sample] = {}
    problems: list[Problem] = []
    for file in _files("caption" if captions else "qa", place):
        for where, value in json_lines(file, problems):
            found, entries = list[Sample](), value
            if file.name == METADATA:
                row = read_row(value, where)
                if isinstance(row, MetadataRow):
                    entries = {row.key: _row_fields(benchmark, row)}
                else:
                    entries = {}
                    problems += row
            for key, fields in entries.items():
                if isinstance(fields, dict):
                    found += samples_of(benchmark, key, fields, where, problems)
                else:
                    problems.append(Problem(where, key[:80], "is not a JSON object"))
            problems += [
                Problem(where, "", f"{item.id!r} stands above already")
                for item in found
                if items.setdefault(item.id, item) is not item
            ]
    _refuse(place, base_name(benchmark), problems, items)
    if not items:
        raise DatasetError(f"{place}: holds no references of {benchmark}")
    return list(items.values())


def _refuse(place: Path, name: str, problems: Sequence[Problem], found: Collection[object]) -> None:
    """What is wrong, row by row; in one line where every row is, as of the other part of MECAT."""
    if problems and not found:
        other = groups.QA if name == groups.CAPTION else groups.CAPTION
        words = f"is not of {name}, row after row ({problems[0]}); is it of {other}?"
        raise DatasetError(f"{place}: {words}")
    if problems:
        raise InvalidDataError(place, problems, _SHOWN)


def _files(kind: str, place: Path) -> list[Path]:
    if place.is_file():
        return [place]
    if not place.is_dir():
        raise DatasetError(f"{place}: no such file or folder")
    if (place / METADATA).is_file():
        return [place / METADATA]
    for folder in (place, place / f"{kind}_test", place / kind / "test", place / kind):
        files = sorted(folder.glob("*.jsonl"))
        if files:
            return files
    raise DatasetError(
        f"{place}: holds no .jsonl file, nor does a folder {kind}_test in it; give MECAT's "
        f"reference folder, or one that 'audiocapbench build mecat' made"
    )


def other_part_hint(benchmark: str, keys: Iterable[str], items: Iterable[Sample]) -> str:
    """That keys which did not fit are of the other part of MECAT; nothing where they are not."""
    captions = groups.asks_for_captions(benchmark)
    clips = {str(item.details["clip"]) for item in items}
    heads = {key.rpartition("_")[0] if captions else key.rpartition("/")[0] or key for key in keys}
    return f"; this looks like {_TITLES[not captions]}" if clips & heads else ""
