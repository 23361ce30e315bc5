"""Which files a dataset may name: those of its folder, and links out of it where one may."""

import os
import re
from pathlib import Path, PurePosixPath, PureWindowsPath

_LAST = re.compile(r"(?!\.\.?$)[^/\\:\0]+$")


def why_outside(
    root: Path, name: str, *, follow_links: bool, inside: set[str] | None = None
) -> str:
    """Why a file is not to be read because it lies outside of its folder; nothing where it may.

    A link may lead out where the user says so, as links in a Hugging Face cache do. A name that
    leads out by itself never may.

    Args:
        inside: Folders below the root that are known to lie in it; grows as more are seen.
    """
    last = _LAST.search(name)
    folder, file = (name[: last.start()], last[0]) if last else (name, "")
    if inside is not None and folder in inside and not os.path.islink(f"{root}/{name}"):
        return ""
    posix, windows = PurePosixPath(name), PureWindowsPath(name)
    if posix.is_absolute() or windows.is_absolute():
        return "leads out of the folder"
    target = (root / name).resolve()
    if target.is_relative_to(root.resolve()):
        if inside is not None and file and target == (root / folder).resolve() / file:
            inside.add(folder)
        return ""
    if ".." in posix.parts + windows.parts:
        return "leads out of the folder"
    if follow_links:
        return ""
    return f"is a link that leads out of the folder, to {target}; --follow-links reads such links"
