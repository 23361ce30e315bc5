"""Bars on stderr for trials: they appear with the first scorer or model that takes its time."""

from contextlib import ExitStack
from types import TracebackType

from rich.progress import Progress, TaskID

from audiocapbench.cli.console import say
from audiocapbench.cli.preview import go_on
from audiocapbench.cli.progress import bars_on_stderr


class TrialBars:
    """A bar for each name; what is shown ends with the block."""

    def __init__(self, *, yes: bool = False) -> None:
        self._stack = ExitStack()
        self._yes = yes
        self._bars: Progress | None = None
        self._tasks: dict[str, TaskID] = {}

    def __enter__(self) -> "TrialBars":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: object, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def advance(self, name: str, done: int, total: int) -> None:
        """Move a bar, or begin it."""
        if self._bars is None:
            self._bars = self._stack.enter_context(bars_on_stderr())
        self._bars.start()
        if name not in self._tasks:
            self._tasks[name] = self._bars.add_task(name, total=total, note="")
        self._bars.update(self._tasks[name], completed=done, total=total)

    def confirm(self, words: str) -> None:
        """Leave the terminal to the question whether to spend; the next step goes on."""
        if self._bars is not None:
            self._bars.stop()
        say(words)
        go_on(yes=self._yes)
