"""The command line: one file a command; parses, calls, prints."""


def main() -> None:
    """Entry point of the ``audiocapbench`` command."""
    from audiocapbench.cli import build, demo, judges, listings, run, runs, score  # noqa: F401  (they add commands)
    from audiocapbench.cli.app import app

    app()
