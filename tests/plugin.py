"""A plug-in model for tests, installed as a package would be, that writes down what it is asked."""

import os
from pathlib import Path

MODULE = '''
import os
import time
from pathlib import Path

import anyio

from audiocapbench import FREE, AudioContract, Reply


class Diary:
    """Answers slowly and writes every question into a file before it answers.

    Where only so many questions are free, the others wait for the gate.
    """

    cacheable = os.environ.get("DIARY_CACHE") == "yes"
    concurrency = int(os.environ.get("DIARY_CONCURRENCY", "1"))
    contract = AudioContract("wav", rate=8000, longest_s=10.0)

    def __init__(self, name):
        self.name = name
        self.parameters = {"pause": 1}
        self.asked = 0

    def prepare(self, samples):
        pass

    async def answer(self, question):
        with open(os.environ["DIARY"], "a") as diary:
            diary.write(question.sample_id + "\\n")
        self.asked += 1
        gate = Path(os.environ["DIARY"]).with_name("gate")
        while self.asked > int(os.environ.get("DIARY_FREE", "1000000")) and not gate.exists():
            await anyio.sleep(0.01)
        await anyio.sleep(float(os.environ.get("DIARY_PAUSE", "0.05")))
        if self.name == "diary/nul":
            return Reply("a\\0b\\ud800")
        if self.name == "diary/raises" and question.sample_id.endswith("1"):
            raise ValueError("no idea")
        if self.name == "diary/blank":
            return Reply("  \\n ")
        return Reply(f"A steady tone, {len(question.audio.content)} bytes of it.")


def create(name):
    return Diary(name)


if os.environ.get("DIARY_PRICE") != "unknown":
    create.price = FREE
'''


def install_package(site: Path, module: str, code: str, name: str = "", **entries: str) -> Path:
    """Lay a package of one module out as pip would.

    Args:
        site: The folder that is to be on the path.
        module: The module's name.
        code: What is in it.
        name: The distribution's; without one it is ``test-`` and the module's.
        entries: Lines of entry points by what they bring, such as ``models="mine = module:Mine"``.

    Returns:
        The folder to put on the path.
    """
    name = name or f"test-{module.replace('_', '-')}"
    info = site / f"{name.replace('-', '_')}-1.0.dist-info"
    info.mkdir(parents=True)
    (site / f"{module}.py").write_text(code)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    groups = [f"[audiocapbench.{room}]\n{lines}\n" for room, lines in entries.items()]
    (info / "entry_points.txt").write_text("\n".join(groups))
    return site


def install(folder: Path) -> Path:
    """Lay the plug-in out as an installed package; returns the folder to put on the path."""
    return install_package(
        folder / "site", "diary_plugin", MODULE, models="diary = diary_plugin:create"
    )


def environment(folder: Path, **settings: str) -> dict[str, str]:
    """Environment of a process in which the plug-in is installed."""
    paths = [str(folder / "site"), *filter(None, [os.environ.get("PYTHONPATH")])]
    return (
        os.environ
        | {"PYTHONPATH": os.pathsep.join(paths), "DIARY": str(folder / "diary.txt")}
        | settings
    )


def open_gate(folder: Path) -> None:
    """Let the plug-in answer the questions that it holds back."""
    (folder / "gate").touch()


def asked(folder: Path) -> list[str]:
    """Every question that the plug-in was asked, in order."""
    diary = folder / "diary.txt"
    return diary.read_text().split() if diary.exists() else []
