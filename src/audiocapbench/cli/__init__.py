"""The command line: one file a command; parses, calls, prints."""

import io
import sys


def main() -> None:
    """Entry point of the ``audiocapbench`` command."""
    from audiocapbench.cli.app import app, load_commands

    load_commands()
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show a dash gets a question mark, not a traceback.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    app()
