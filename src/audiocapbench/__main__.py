"""``python -m audiocapbench`` is the same as ``audiocapbench``."""

from audiocapbench.cli import main

main()
