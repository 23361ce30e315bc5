"""What all stages share: the folder's clips, what each reads of those before it, and keeps."""

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import BaseModel

from audiocapbench.audio import EXTENSIONS, OTHER_EXTENSIONS
from audiocapbench.benchmarks import Benchmark
from audiocapbench.benchmarks.benchmark import TRIAL
from audiocapbench.data import Clip, InvalidDataError, Problem, Sample
from audiocapbench.data.columns import FILES, REFERENCES, fold_name, renamed
from audiocapbench.data.folder import METADATA, TABLE, read_clip
from audiocapbench.data.outcome import Outcome
from audiocapbench.data.problems import check_storable
from audiocapbench.data.records import read_records
from audiocapbench.data.row import captions_of
from audiocapbench.engine import Preview
from audiocapbench.engine.runner import AskContext
from audiocapbench.errors import AnnotationError
from audiocapbench.metrics.parallel import read_ahead
from audiocapbench.models import Model
from audiocapbench.models.model import without_audio
from audiocapbench.store import Store
from audiocapbench.store.cache import Finding, StageRecord

NONE = "None"
"""The first caption of a view whose content the clip does not have."""

_MOST = 4_000
_ABSENT = "its metadata names it, and there is no such audio file"
_TOLD = ("title", "description", "source", "licence", "domain")
DONE = {"hear": "heard", "merge": "merged", "check": "checked"}


class Annotation(BaseModel):
    """What the language model made of what experts said: six views in three wordings each."""

    confidence: str
    conflicts: list[str]
    reasoning: str
    captions: dict[str, list[str]]
    questions: list[dict[str, str]]

    def texts(self) -> list[tuple[str, str]]:
        """All that is published of it, with the name of the field."""
        texts = []
        for view, wordings in self.captions.items():
            texts += [(f"{view} caption {place}", one) for place, one in enumerate(wordings, 1)]
        for place, asked in enumerate(self.questions, 1):
            texts += [(f"{part} {place}", asked[part]) for part in ("question", "answer")]
        return texts


class SourceClip(NamedTuple):
    """A clip, by its path in the folder, and what the folder's metadata says of it."""

    id: str
    clip: Clip
    about: Mapping[str, str]
    captions: tuple[str, ...] = ()


def open_clips(
    root: Path,
    *,
    sample: int | None = None,
    seed: int = 0,
    follow_links: bool = False,
    progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> tuple[list[SourceClip], dict[str, str]]:
    """The clips of a folder by name, or some by lot, and why others cannot be read.

    A smaller draw is part of a larger one; metadata may say more of clips.
    """
    if not root.is_dir():
        raise AnnotationError(f"{root}: no such folder")
    names, others = list_audio(root)
    if not names:
        what = f"; {counted_kinds(others)} are no audio that is read" if others else ""
        raise AnnotationError(f"{root}: holds no audio ({', '.join(sorted(EXTENSIONS))}){what}")
    about, unreadable = _metadata(root), dict[str, str]()
    if sample is None:
        unreadable = dict.fromkeys(sorted(about.keys() - set(names)), _ABSENT)
    else:
        names = sorted(sorted(names, key=lambda name: digest(seed, name))[:sample])

    def read(name: str) -> Clip | str:
        try:
            check_storable(name)
        except ValueError as error:
            return str(error)
        return read_clip(root, name, follow_links=follow_links)

    clips = []
    for done, (name, found) in enumerate(read_ahead(read, names), 1):
        progress(done, len(names))
        if isinstance(found, Clip):
            fields = about.get(name, {})
            fields = {"licence": fields.get("license")} | fields
            told = {key: str(fields[key])[:_MOST] for key in _TOLD if fields.get(key)}
            # What people wrote of it, if anything, is for the audit, and never told to a model.
            wrote = captions_of(renamed(fields, {"references": REFERENCES}))
            captions = tuple(one for one in wrote if isinstance(one, str) and one.strip())
            clips.append(SourceClip(name, found, told, captions))
        else:
            unreadable[storable(name)] = found
    return clips, unreadable


def storable(name: str) -> str:
    return name.encode("utf-8", "replace").decode()


def digest(*parts: object) -> str:
    """A hash of some texts: a name for them, or a lot that is drawn for them."""
    text = "\0".join(map(str, parts))
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


def list_audio(root: Path) -> tuple[list[str], Counter[str]]:
    """Names of the audio files below a folder, and what else lies there, by its ending."""
    names, others = list[str](), Counter[str]()
    for path in sorted(root.rglob("*")):
        inner, ending = path.relative_to(root), path.suffix.lower()
        if any(part.startswith(".") for part in inner.parts):
            continue
        if ending in EXTENSIONS | OTHER_EXTENSIONS:
            names.append(inner.as_posix())
        elif path.is_file() and inner.as_posix() not in (METADATA, TABLE):
            others[ending or "no ending"] += 1
    return names, others


def counted_kinds(others: Mapping[str, int]) -> str:
    return ", ".join(f"{count:,} of {ending}" for ending, count in others.items())


def _metadata(root: Path) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    problems: list[Problem] = []
    for name in (METADATA, TABLE):
        if not (root / name).is_file():
            continue
        for where, fields in read_records(root / name, problems, roles={"file_name": FILES}):
            row = {fold_name(key): one for key, one in fields.items()}
            file = row.get("file_name")
            if isinstance(file, str) and file not in found:
                found[file] = row
            else:
                problems.append(Problem(where, "file_name", "is missing, or stands above already"))
    if problems:
        raise InvalidDataError(root, problems)
    return found


@cache
def prompt(name: str) -> tuple[str, str]:
    """A prompt's text and its hash; ``mecat_merge`` is appendix D of the MECAT paper verbatim."""
    place = files("audiocapbench.annotate").joinpath("prompts", f"{name}.txt")
    text = place.read_text("utf-8").strip()
    return text, digest(text)[:12]


def digest_of(record: StageRecord) -> str:
    """A hash of the annotation that a record holds: a verdict on it is of no other."""
    return digest(json.dumps(record.document["annotation"]))[:16]


class StageResult(NamedTuple):
    """What a stage came to, as JSON, and whether every clip got through."""

    document: dict[str, Any]
    whole: bool = True


class StageContext:
    """A folder that is annotated, the store that keeps what is made, and how models are asked."""

    def __init__(
        self,
        root: Path,
        store: Store,
        asking: AskContext | None = None,
        agree: Callable[[Preview], None] = lambda _: None,
    ) -> None:
        """Take a folder, a store, and how models are asked; ``agree`` is told the costs."""
        self.root, self.project, self.agree = root, str(root.resolve()), agree
        self.store, self.kept, self.asking = store, store.annotations, asking or AskContext()
        self.progress = self.asking.progress

    def passed(self, stage: str) -> dict[str, StageRecord]:
        """Clips that got through a stage, by name; AnnotationError where it was not run yet."""
        if stage not in self.settings:
            how = f"run 'audiocapbench annotate {stage}' on it first"
            raise AnnotationError(f"{self.project}: has not been {DONE[stage]}; {how}")
        records = self.kept.records(self.project, stage)
        gone = self.rejected() if stage == "check" else ()
        return {
            clip: one
            for clip, one in sorted(records.items())
            if one.status == "ok" and clip not in gone and (self.root / clip).exists()
        }

    def rejected(self) -> set[str]:
        """Clips whose annotation, as it still is, people have rejected."""
        verdicts = self.settings.get("audit", {}).get("rejected", {})
        made = self.kept.records(self.project, "merge") if verdicts else {}
        return {one for one, key in verdicts.items() if one in made and key == digest_of(made[one])}

    def merged(self) -> dict[str, Annotation]:
        read, records = Annotation.model_validate, self.passed("merge")
        return {clip: read(one.document["annotation"]) for clip, one in records.items()}

    @property
    def settings(self) -> Mapping[str, Mapping[str, Any]]:
        return self.kept.settings(self.project)

    def findings(self, heard: Mapping[str, StageRecord]) -> dict[str, dict[str, Finding]]:
        """What experts said of clips, by the clips' names, as the first stage recorded it."""
        found: dict[str, dict[str, Finding]] = {clip: {} for clip in heard}
        clips = {one.document["sha256"]: clip for clip, one in heard.items()}
        said = (one.document["experts"].items() for one in heard.values())
        by = {(name, own["signature"]) for one in said for name, own in one}
        for expert, signature in sorted(by):
            for digest, own in self.kept.findings({expert: signature}, list(clips)).items():
                found[clips[digest]][expert] = own[expert]
        return found

    def keep(
        self, stage: str, records: Sequence[StageRecord], settings: Mapping[str, Any]
    ) -> dict[str, dict[str, list[str]]]:
        """Keep how a stage ended; clips that it did not let through, by status and reason."""
        self.kept.put_stage(self.project, stage, records)
        self.kept.put_settings(self.project, stage, settings)
        left_out: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
        for one in records:
            if one.status != "ok":
                left_out[one.status][one.error or "no reason given"].append(one.clip)
        return left_out

    def questions(
        self,
        name: str,
        texts: Mapping[str, str],
        clips: Mapping[str, Clip] | None = None,
        groups: Mapping[str, str] | None = None,
    ) -> Benchmark:
        """What is asked about clips, with their sound or without; progress is shown by group."""
        sounds, kinds = clips or {}, groups or {}
        samples = [
            Sample(
                key, sounds.get(key) or Clip.absent(key), text, ("-",), kinds.get(key, "all"), at
            )
            for at, (key, text) in enumerate(texts.items())
        ]
        return Benchmark(f"{TRIAL}annotate/{name}", self.root, samples, kind="trial")

    def ask(
        self,
        name: str,
        model: Model,
        texts: Mapping[str, str],
        clips: Mapping[str, Clip] | None = None,
        what: str = "",
    ) -> Mapping[str, Outcome]:
        """Ask a model about clips; with ``what`` is asked, the costs are agreed to before."""
        if not texts:
            return {}
        questions, asked = (
            self.questions(name, texts, clips),
            model if clips else without_audio(model),
        )
        if what:
            self.agree(self.asking.preview([questions], asked, model.name, what))
        return self.asking.ask(questions, asked, f"{model.name}: {name.partition('/')[0]}")
