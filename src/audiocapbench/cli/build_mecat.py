"""What ``audiocapbench build mecat`` does once its options are read; not a command of its own."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from audiocapbench.benchmarks.mecat.groups import DIFFICULTIES, DOMAINS, QA_CATEGORIES, SUBTASKS
from audiocapbench.cli.build import with_bars
from audiocapbench.data.build import BuildEnd
from audiocapbench.data.build.mecat import MecatSettings, build_mecat
from audiocapbench.data.build.mecat_rows import REPOSITORIES, Part, Vocabulary
from audiocapbench.errors import DatasetError

WORDS = Vocabulary(DOMAINS, SUBTASKS, QA_CATEGORIES, tuple(DIFFICULTIES))


@dataclass(frozen=True, slots=True)
class MecatWishes:
    """The options as given."""

    part: Literal["caption", "qa", "both"]
    domains: str | None
    limit: int | None
    revisions: Mapping[str, str]
    shards: list[Path] | None


def build_mecat_parts(out: Path, wishes: MecatWishes, *, dry_run: bool) -> dict[Path, BuildEnd]:
    """Build the folder of a part, or of both parts side by side.

    Raises:
        DatasetError: An option makes no sense, or a folder cannot be built.
    """
    for name in wishes.revisions:
        if name not in REPOSITORIES:
            raise DatasetError(f"there is no part {name!r}; choose from {', '.join(REPOSITORIES)}")
    if wishes.part == "both" and wishes.shards:
        raise DatasetError("shards hold captions or questions: say which with --part")
    named = [domain.strip() for domain in (wishes.domains or "").split(",")]
    domains = tuple(dict.fromkeys(domain for domain in named if domain))
    if wishes.domains is not None and not domains:
        raise DatasetError(f"--domains names none; choose from {', '.join(DOMAINS)}")
    parts: dict[Path, Part]
    if wishes.part == "both":
        parts = {out / "caption": "caption", out / "qa": "qa"}
    else:
        parts = {out: wishes.part}
    ends = {}
    for folder, part in parts.items():
        settings = MecatSettings(
            part=part,
            domains=domains,
            limit=wishes.limit,
            revision=wishes.revisions.get(part),
            shards=tuple(wishes.shards) if wishes.shards else None,
        )
        ends[folder] = with_bars(
            lambda tell, folder=folder, settings=settings: build_mecat(  # type: ignore[misc]
                folder, WORDS, settings, dry_run=dry_run, progress=tell
            )
        )
    return ends
