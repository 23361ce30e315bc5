"""manifest.json: what a dataset's files should be, and why some are not there."""

import json
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, Field, ValidationError

from audiocapbench import audio
from audiocapbench.data.problems import Problem, problems_of
from audiocapbench.files import write_file

FILE_NAME = "manifest.json"


class FileFacts(BaseModel, extra="forbid", frozen=True):
    """Fingerprint and header of one audio file."""

    sha256: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
    bytes: Annotated[int, Field(ge=1)]
    duration_s: Annotated[float, Field(gt=0, allow_inf_nan=False)]
    sample_rate: Annotated[int, Field(ge=1)]
    channels: Annotated[int, Field(ge=1)]


class MissingClip(BaseModel, extra="forbid", frozen=True):
    """A clip that the benchmark has and this folder has not."""

    id: str
    reason: str
    file_name: str | None = None
    category: str | None = None


class Manifest(BaseModel, extra="forbid", frozen=True):
    """All files of a dataset folder, all that are missing, and what a builder made it from."""

    version: Literal[1] = 1
    name: str = ""
    files: dict[str, FileFacts] = {}
    missing: list[MissingClip] = []
    origin: dict[str, str] | None = None


def read_manifest(root: Path) -> Manifest | list[Problem]:
    """Read a folder's manifest; an absent one is an empty one."""
    path = root / FILE_NAME
    if not path.exists():
        return Manifest()
    try:
        return Manifest.model_validate_json(path.read_bytes())
    except OSError as error:
        return [Problem(FILE_NAME, "", f"cannot be read ({error.strerror})")]
    except ValidationError as error:
        return problems_of(error, FILE_NAME)


def write_manifest(root: Path, manifest: Manifest) -> None:
    """Write a manifest beside the metadata, replacing the old one at once."""
    text = json.dumps(manifest.model_dump(exclude_none=True), indent=1, ensure_ascii=False)
    write_file(root / FILE_NAME, text + "\n")


def facts_of(path: Path) -> FileFacts:
    """Hash one audio file and read its header."""
    info, size, digest = audio.probe_and_hash(path)
    return FileFacts(
        sha256=digest,
        bytes=size,
        duration_s=round(info.duration_s, 6) or info.duration_s,
        sample_rate=info.rate,
        channels=info.channels,
    )
