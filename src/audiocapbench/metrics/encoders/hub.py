"""Weights from a folder or the Hugging Face cache: found, downloaded if asked, loaded quietly."""

import importlib
import importlib.util
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from audiocapbench.errors import MetricError

_NOT_TORCH = ["onnx/*", "openvino/*", "*.onnx", "*.h5", "*.ot", "*.msgpack"]


def require(what: str, extra: str, *packages: str) -> None:
    """Refuse to go on where a package is not installed."""
    for package in packages:
        if importlib.util.find_spec(package) is None:
            name = package.replace("_", "-")
            raise MetricError(f"{what} needs {name}: pip install 'audiocapbench[{extra}]'.")


def snapshot(repository: str, *, download: bool) -> Path | None:
    """The folder of a repository's files; None where it is not on disk and may not be fetched.

    Raises:
        MetricError: There can be no such repository, or it could not be downloaded.
    """
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError

    try:
        return Path(snapshot_download(repository, local_files_only=True))
    except HFValidationError:
        raise MetricError(f"{repository!r} is not a name on the Hugging Face hub") from None
    except LocalEntryNotFoundError:
        if not download:
            return None
    try:
        return Path(snapshot_download(repository, ignore_patterns=_NOT_TORCH))
    except (HfHubHTTPError, LocalEntryNotFoundError, OSError) as error:
        raise MetricError(
            f"{repository} could not be downloaded: check the network and HF_ENDPOINT, or name a "
            "folder that holds it."
        ) from error


def label_of(folder: str | Path) -> str:
    """What signatures call a model that lies in a folder."""
    return re.sub(r"[^\w.-]+", "_", Path(folder).absolute().name)


@contextmanager
def loading(what: str, folder: Path) -> Iterator[None]:
    """Load weights without a progress bar in the middle of a command's output.

    Raises:
        MetricError: They cannot be loaded; a damaged folder can fail in any way.
    """
    logging: Any = importlib.import_module("transformers.utils.logging")
    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    except MetricError:
        raise
    except Exception as error:
        reason = str(error).strip().partition("\n")[0]
        raise MetricError(
            f"the {what} in {folder} cannot be loaded ({reason}): fetch the folder again"
        ) from error
    finally:
        if shown:
            logging.enable_progress_bar()
