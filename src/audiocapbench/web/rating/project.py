"""A rating project as its file says it: what is asked, of whom, and how often.

What is wrong with the file is said with its line.
"""

import re
import tomllib
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from audiocapbench.web.rating.kinds import KINDS, KindName, RatingError

_Run = Annotated[str, Field(min_length=1)] | Annotated[int, Field(ge=1)]


class RatingProject(BaseModel):
    """A project.

    Attributes:
        each: How many people rate an item.
        listen: The share of a clip that must have been played.
        claim_minutes: How long an item waits for whom it was shown to.
        url: Where people open it, where a proxy stands before the server.
        confidence: Whether people also say how sure they are, where they choose.
        root: The folder that names of files start from.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,59}$")]
    kind: KindName
    people: Annotated[tuple[str, ...], Field(min_length=1, max_length=500, strict=False)]
    each: Annotated[int, Field(ge=1)] = 1
    items: str | None = None
    run: _Run | Annotated[tuple[_Run, ...], Field(min_length=1, strict=False)] | None = None
    audio: str | None = None
    gold: str | None = None
    title: Annotated[str, Field(max_length=200)] = ""
    instructions: Annotated[str, Field(max_length=4000)] = ""
    seed: Annotated[int, Field(ge=0, lt=2**31)] = 0
    listen: Annotated[float, Field(ge=0, le=1, strict=False)] = 0.9
    url: Annotated[str, Field(pattern=r"^https?://[A-Za-z0-9.:-]+/?$")] | None = None
    claim_minutes: Annotated[float, Field(gt=0, le=24 * 60, strict=False)] = 30.0
    confidence: bool = True
    follow_links: bool = False
    root: Path = Path()

    @field_validator("people")
    @classmethod
    def _names(cls, people: tuple[str, ...]) -> tuple[str, ...]:
        for one in people:
            if not one.strip() or one != one.strip() or len(one) > 60 or not one.isprintable():
                raise ValueError(f"has {one[:60]!r}, which is no name")
        if len(set(people)) < len(people):
            raise ValueError("names a person twice")
        return people

    @property
    def runs(self) -> tuple[str | int, ...]:
        """The runs whose answers are rated."""
        if self.run is None:
            return ()
        return self.run if isinstance(self.run, tuple) else (self.run,)

    @property
    def asks_confidence(self) -> bool:
        """Whether people say how sure they are."""
        return self.confidence and bool(KINDS[self.kind].field)


def read_project(path: Path) -> RatingProject:
    """Read a project file.

    Raises:
        RatingError: It cannot be read; every problem stands on a line of its own.
    """
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise RatingError(f"{path}: cannot be read ({error.strerror or error})") from None
    except UnicodeDecodeError:
        raise RatingError(f"{path}: is not UTF-8 text") from None
    try:
        fields = tomllib.loads(text)
        if "root" in fields:
            raise RatingError(f"{path}{_line(text, 'root')}: root: is no setting of a project")
        project = RatingProject.model_validate(fields | {"root": path.parent})
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise RatingError(f"{path}: is not TOML: {error}") from None
    except ValidationError as error:
        problems = error.errors(include_url=False, include_context=False)
        lines = dict.fromkeys(_said(path, text, p) for p in problems)
        raise RatingError("\n".join(lines)) from None
    for field, wrong in _contradictions(project):
        raise RatingError(f"{path}{_line(text, field)}: {field}: {wrong}")
    return project


def _contradictions(project: RatingProject) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    if project.each > len(project.people):
        count = f"{len(project.people)} {'person' if len(project.people) == 1 else 'people'}"
        found.append(("each", f"is {project.each}, and there are only {count}"))
    if (project.items is None) == (not project.runs):
        found.append(("items", "name either a file of items, or runs with 'run'"))
    if project.items is not None and project.audio is None:
        found.append(("audio", "is missing; name the folder with the clips"))
    if project.kind == "pairs" and project.runs and len(project.runs) != 2:
        found.append(("run", f"pairs are of two runs, and {len(project.runs)} are named"))
    if project.kind == "pick" and len(project.runs) > 1:
        found.append(("run", "captions to pick from are of one run"))
    return found


def _said(path: Path, text: str, problem: Any) -> str:
    field = str(problem["loc"][0]) if problem["loc"] else ""
    what = problem["msg"].removeprefix("Value error, ")
    if problem["type"] == "missing":
        what = "is missing"
    elif problem["type"] == "extra_forbidden":
        names = [one for one in RatingProject.model_fields if one != "root"]
        what = f"is no setting of a project; there are {', '.join(names)}"
    elif problem["type"] != "value_error":
        what = f"is {problem['input']!r:.60}: {what[:1].lower()}{what[1:]}"
    return f"{path}{_line(text, field)}: {field}: {what}"


def _line(text: str, field: str) -> str:
    """Where a field stands; nothing where it does not."""
    pattern = re.compile(
        rf"""\s*["']?{re.escape(field)}["']?\s*[=.]|\s*\[+\s*{re.escape(field)}\b"""
    )
    for number, line in enumerate(text.splitlines(), 1):
        if pattern.match(line):
            return f" line {number}"
    return ""
