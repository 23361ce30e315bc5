"""Puts the demo's first table into docs/index.md as it is printed today."""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

PAGE = Path(__file__).resolve().parents[1] / "docs" / "index.md"


def main() -> None:
    """Run the demo in a folder of its own and copy its first table."""
    with tempfile.TemporaryDirectory() as place:
        done = subprocess.run(
            [sys.executable, "-m", "audiocapbench", "demo"],
            cwd=place,
            capture_output=True,
            text=True,
            check=True,
        )
    tables = done.stdout.split("\nelements: overall by category")[0]
    lines = [line.rstrip() for line in tables.splitlines()]
    table = re.sub(r"\n{2,}", "\n\n", "\n".join(lines).strip())
    text = PAGE.read_text(encoding="utf-8")
    fresh = re.sub(r"```text\n.*?\n```", f"```text\n{table}\n```", text, count=1, flags=re.DOTALL)
    PAGE.write_text(fresh, encoding="utf-8")


if __name__ == "__main__":
    main()
