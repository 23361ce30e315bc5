"""A plug-in expert for tests that writes down which clips it hears, and may fail or die of one."""

import os
from pathlib import Path

from plugin import install_package

_MODULE = """
import os
import signal
import time


class Diary:
    name, needs, version, domains = "diary", "nothing", "1", os.environ.get("EXPERT_DOMAINS", "")

    def __init__(self, options):
        self.word = options.pop("word", "calm")

    def analyse(self, clip):
        with open(os.environ["EXPERT_DIARY"], "a") as diary:
            diary.write(clip.clip.file_name + "\\n")
        while os.environ.get("EXPERT_WAITS") and not os.path.exists(os.environ["EXPERT_WAITS"]):
            time.sleep(0.02)
        if clip.clip.file_name == os.environ.get("EXPERT_FAILS"):
            raise RuntimeError("cannot bear this one")
        if clip.clip.file_name == os.environ.get("EXPERT_EXITS"):
            raise SystemExit("had enough")
        if clip.clip.file_name == os.environ.get("EXPERT_NAN"):
            return {"mood": float("nan")}
        if clip.clip.file_name == os.environ.get("EXPERT_SURE"):
            return {"moods": [{"mood": "calm", "confidence": 0.5}, {"confidence": 1.5}]}
        if clip.clip.file_name == os.environ.get("EXPERT_INTERRUPTS"):
            raise KeyboardInterrupt
        if clip.clip.file_name == os.environ.get("EXPERT_DIES"):
            os.kill(os.getpid(), signal.SIGKILL)
        return {"mood": self.word, "confidence": 0.9}


class Odd(Diary):
    name, domains = "odd", None


def broken(options):
    raise OSError("its weights are gone")
"""

_ENTRIES = "diary = expert_plugin_module:Diary\n"
_BROKEN = "broken = expert_plugin_module:broken\nodd = expert_plugin_module:Odd\n"


def install(folder: Path) -> Path:
    """Lay it out as an installed package; returns the folder to put on the path."""
    site = folder / "site"
    return install_package(site, "expert_plugin_module", _MODULE, experts=_ENTRIES + _BROKEN)


def environment(folder: Path, **settings: str) -> dict[str, str]:
    """Environment of a process in which it is installed."""
    paths = [str(folder / "site"), *filter(None, [os.environ.get("PYTHONPATH")])]
    own = {"PYTHONPATH": os.pathsep.join(paths), "EXPERT_DIARY": str(folder / "heard.txt")}
    return os.environ | own | settings


def heard(folder: Path) -> list[str]:
    """Every clip that it heard, in order."""
    diary = folder / "heard.txt"
    return diary.read_text().split() if diary.exists() else []
