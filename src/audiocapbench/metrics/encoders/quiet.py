"""Loading weights without a progress bar in the middle of a command's output."""

import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def no_progress_bar() -> Iterator[None]:
    """Keep transformers from drawing a bar while it loads weights."""
    logging: Any = importlib.import_module("transformers.utils.logging")
    if not logging.is_progress_bar_enabled():
        yield
        return
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.enable_progress_bar()
