"""Which files a dataset may name: those of its folder, and links out of it where one may."""

from pathlib import Path, PurePosixPath, PureWindowsPath


def why_outside(root: Path, name: str, *, follow_links: bool) -> str:
    """Why a file is not to be read because it lies outside of its folder; nothing where it may.

    A link may lead out where the user says so, as links in a Hugging Face cache do. A name that
    leads out by itself never may.
    """
    posix, windows = PurePosixPath(name), PureWindowsPath(name)
    if posix.is_absolute() or windows.is_absolute():
        return "leads out of the folder"
    target = (root / name).resolve()
    if target.is_relative_to(root.resolve()):
        return ""
    if ".." in posix.parts + windows.parts:
        return "leads out of the folder"
    if follow_links:
        return ""
    return (
        f"is a link that leads out of the folder, to {target}; links are read with --follow-links, "
        "in the library follow_links=True"
    )
