"""What all stages share: the folder's clips, what each reads of those before it, and keeps."""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import BaseModel

from audiocapbench.engine.runner import AskContext
from audiocapbench.errors import AnnotationError
from audiocapbench.files import digest
from audiocapbench.store import Store
from audiocapbench.store.cache import Finding, StageRecord

NONE = "None"
"""The first caption of a view whose content the clip does not have."""

DONE = {"hear": "heard", "merge": "merged", "check": "checked"}


class Annotation(BaseModel):
    """What the language model made of what experts said: six views in three wordings each."""

    confidence: str
    conflicts: list[str]
    reasoning: str
    captions: dict[str, list[str]]
    questions: list[dict[str, str]]

    def heard(self) -> dict[str, list[str]]:
        """The captions of views whose content the clip has."""
        return {view: own for view, own in self.captions.items() if own[0] != NONE}

    def texts(self) -> list[tuple[str, str]]:
        """All that is published of it, with the name of the field."""
        texts = []
        for view, wordings in self.captions.items():
            texts += [(f"{view} caption {place}", one) for place, one in enumerate(wordings, 1)]
        for place, asked in enumerate(self.questions, 1):
            texts += [(f"{part} {place}", asked[part]) for part in ("question", "answer")]
        return texts


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

    def __init__(self, root: Path, store: Store, asking: AskContext | None = None) -> None:
        self.root, self.project = root, str(root.resolve())
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
            for sha256, own in self.kept.findings({expert: signature}, list(clips)).items():
                found[clips[sha256]][expert] = own[expert]
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
