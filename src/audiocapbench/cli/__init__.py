"""The command line: one file a command; parses, calls, prints."""

import gc
import io
import os
import signal
import sys
import threading

_INTERRUPTED = 130
_LAST_WAIT_S = 1.0
_FINALIZER_S = 0.01
_FEW, _USUAL = (1_000_000, 50, 100), gc.get_threshold()
"""How often cycles are looked for: neither imports nor half a million captions make any."""


def collect_as_usual() -> None:
    """What asks or serves makes cycles, and they hold audio; what is there at first has none."""
    if gc.get_threshold() == _FEW:
        gc.freeze()
        gc.set_threshold(*_USUAL)


def main() -> None:
    gc.set_threshold(*_FEW)
    # httpx would bring a command of its own, with click and pygments.
    sys.modules.setdefault("httpx._main", None)  # type: ignore[arg-type]
    # What other packages bring for pydantic is looked for in each of them, and nobody has any.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    sys.unraisablehook = interrupt_again
    try:
        _run()
    except KeyboardInterrupt:  # before there is a command, or once more after its end
        sys.stderr.write("audiocapbench: interrupted\n")
        sys.exit(_INTERRUPTED)


def interrupt_again(unraisable: "sys.UnraisableHookArgs") -> None:
    """Let a Ctrl-C come again that fell into a finalizer, where Python prints and drops it."""
    if issubclass(unraisable.exc_type, KeyboardInterrupt):
        again = threading.Timer(_FINALIZER_S, os.kill, (os.getpid(), signal.SIGINT))
        again.daemon = True
        again.start()
    else:
        sys.__unraisablehook__(unraisable)


def _run() -> None:
    from audiocapbench.cli.app import app

    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show a dash gets a question mark, not a traceback.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    try:
        app()
    except SystemExit as ended:
        # Whoever interrupts does not wait for threads that wait for a disk or a server.
        for thread in threading.enumerate() if ended.code == _INTERRUPTED else ():
            if thread.name == "AnyIO worker thread":
                thread.join(_LAST_WAIT_S)
                if thread.is_alive():
                    sys.stdout.flush()
                    sys.stderr.flush()
                    os._exit(_INTERRUPTED)
        raise
