"""Repositories of the Hugging Face Hub: pinned to a commit and read by byte ranges.

Not by ``HfFileSystem``, which looks up the commit and every folder's files once more.
"""

import glob
import importlib
import io
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from audiocapbench.audio import sha256
from audiocapbench.credentials import credential, redacted
from audiocapbench.errors import DatasetError
from audiocapbench.plugins import require_packages

DEFAULT_ENDPOINT = "https://huggingface.co"
FIRST_PAUSES_S = (0.5, 1.0)
PAUSES_S = (0.5, 1.0, 2.0, 4.0, 8.0)
PIECE = 16 << 20

_TIMEOUT_S = 60.0
_LONGEST_PAUSE_S = 60.0
_T = TypeVar("_T")

OnReceived = Callable[[int], None]


class HubError(DatasetError):
    """A repository cannot be used: it is not there, gated, or not laid out as expected."""


class NetworkError(DatasetError):
    """The Hub cannot be reached, or stopped answering."""


@dataclass(frozen=True, slots=True)
class Repository:
    """A dataset repository at one commit: its files with their sizes, and hashes where known.

    ``configs`` is what its card says about splits.
    """

    hub: "Hub"
    name: str
    commit: str
    sizes: Mapping[str, int]
    configs: Sequence[Any] = field(default=())
    hashes: Mapping[str, str] = field(default_factory=dict)

    def open(self, path: str, received: OnReceived | None = None) -> "RemoteFile":
        return RemoteFile(self, path, received)


class Hub:
    def __init__(self, endpoint: str | None = None) -> None:
        chosen = endpoint or os.environ.get("HF_ENDPOINT") or DEFAULT_ENDPOINT
        self.endpoint = chosen.rstrip("/")

    def repository(self, name: str, revision: str | None = None) -> Repository:
        """Look a dataset repository up and pin it to the commit that it is at."""
        look_up = partial(hub_library().HfApi(endpoint=self.endpoint).dataset_info, name)
        call = partial(look_up, revision=revision, files_metadata=True, timeout=_TIMEOUT_S)
        # Without any network, nobody wants to wait long for being told so.
        info = self._patiently(name, revision, call, FIRST_PAUSES_S)
        files = {one.rfilename: one.size for one in info.siblings or ()}
        sizes = {path: -1 if size is None else int(size) for path, size in files.items()}
        configs = info.card_data.to_dict().get("configs") if info.card_data is not None else None
        hashes = {one.rfilename: one.lfs["sha256"] for one in info.siblings or () if one.lfs}
        listed = configs if isinstance(configs, list) else ()
        return Repository(self, name, info.sha, sizes, listed, hashes)

    def download(self, repository: Repository, paths: Sequence[str], root: Path) -> None:
        """Have files in a folder, from where a download was stopped, and check what is checked."""
        wanted = [glob.escape(path) for path in paths]
        pinned = {"revision": repository.commit, "endpoint": self.endpoint, "repo_type": "dataset"}
        get = partial(hub_library().snapshot_download, repository.name, local_dir=root, **pinned)
        self._patiently(repository.name, repository.commit, partial(get, allow_patterns=wanted))
        for path, known in repository.hashes.items():
            if path in paths and sha256(root / path) != known:
                (root / path).unlink()
                what = "came with another SHA-256 than the Hub has; run again to download it anew"
                raise HubError(f"{repository.name}: {path} {what}")

    def upload(self, name: str, folder: Path, files: Sequence[str], message: str) -> str:
        """Put files into a dataset repository, made private where it is new; its address."""
        token = credential("HF_TOKEN")
        api = hub_library().HfApi(endpoint=self.endpoint, token=token)
        make = partial(api.create_repo, name, repo_type="dataset", private=True, exist_ok=True)
        self._patiently(name, None, make, FIRST_PAUSES_S)
        put = partial(api.upload_folder, repo_id=name, folder_path=folder, repo_type="dataset")
        own = partial(put, commit_message=message, allow_patterns=list(files))
        self._patiently(name, None, own)
        return f"{self.endpoint}/datasets/{name}"

    def fetch(self, repository: Repository, path: str, start: int, end: int) -> bytes:
        name, commit = repository.name, repository.commit
        url = hub_library().hf_hub_url(
            name, path, repo_type="dataset", revision=commit, endpoint=self.endpoint
        )
        tools = hub_library("huggingface_hub.utils")
        headers = tools.build_hf_headers() | {"Range": f"bytes={start}-{end - 1}"}

        def get() -> bytes:
            reply = tools.get_session().get(url, headers=headers, timeout=_TIMEOUT_S)
            tools.hf_raise_for_status(reply)
            content: bytes = reply.content
            if reply.status_code == 200:
                content = content[start:end]
            if len(content) != end - start:
                raise OSError(f"{len(content)} of {end - start} bytes came")
            return content

        return self._patiently(name, commit, get)

    def _patiently(
        self,
        name: str,
        revision: str | None,
        call: Callable[[], _T],
        pauses_s: Sequence[float] = PAUSES_S,
    ) -> _T:
        for pause_s in (*pauses_s, None):
            try:
                return call()
            except Exception as error:
                reason, asked_s = self._passing(name, revision, error)
            if pause_s is not None:
                time.sleep(min(_LONGEST_PAUSE_S, max(pause_s, asked_s)))
        raise NetworkError(
            f"{self.endpoint} cannot be reached or breaks off ({reason}); check the network and "
            "HF_ENDPOINT; the same command goes on where this one stopped"
        )

    def _passing(self, name: str, revision: str | None, error: Exception) -> tuple[str, float]:
        """Why a call failed that may succeed later, and after which pause; others are raised."""
        from huggingface_hub import errors

        place = f"{self.endpoint}/datasets/{name}"
        refusals = {
            errors.HFValidationError: f"{name!r} is no name of a dataset at the Hub: ORG/NAME",
            errors.GatedRepoError: f"{name} is gated: accept its terms at {place} and set HF_TOKEN",
            errors.RevisionNotFoundError: f"{name} has no revision {revision!r}",
            errors.RepositoryNotFoundError: f"{name} is not at {self.endpoint}, or is private: "
            "check HF_ENDPOINT and HF_TOKEN",
            errors.EntryNotFoundError: f"{name} at {revision} lacks a file that it lists",
        }
        for kind, sentence in refusals.items():
            if isinstance(error, kind):
                raise HubError(sentence) from None
        if isinstance(error, errors.OfflineModeIsEnabled):
            raise NetworkError("HF_HUB_OFFLINE is set: unset it to download") from None
        if isinstance(error, errors.HfHubHTTPError):
            reply = error.response
            status = reply.status_code if reply is not None else 0
            if status in (401, 403):
                raise HubError(f"{name} refuses access (HTTP {status}): check HF_TOKEN") from None
            if status not in (408, 429) and 400 <= status < 500:
                raise HubError(f"{name} cannot be read (HTTP {status})") from None
            asked = str(reply.headers.get("Retry-After", "")) if reply is not None else ""
            return f"HTTP {status}", float(asked) if asked.isdecimal() else 0.0
        reason = redacted(str(error)).strip().splitlines()
        return reason[0][:200] if reason else type(error).__name__, 0.0


class RemoteFile(io.RawIOBase):
    """A file of a repository that can be read from any place; nothing is read ahead."""

    def __init__(self, repository: Repository, path: str, received: OnReceived | None) -> None:
        self.repository, self.path = repository, path
        self.length = repository.sizes[path]
        if self.length < 0:
            raise HubError(f"{repository.name}: the Hub does not say how large {path} is")
        self._received = received
        self._position = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self.length}[whence]
        self._position = max(0, base + offset)
        return self._position

    def read(self, size: int = -1) -> bytes:
        """So many bytes, or all that are left, in pieces: a broken connection costs only one."""
        end = self.length if size < 0 else min(self.length, self._position + size)
        pieces = []
        while self._position < end:
            stop = min(end, self._position + PIECE)
            hub = self.repository.hub
            pieces.append(hub.fetch(self.repository, self.path, self._position, stop))
            if self._received is not None:
                self._received(stop - self._position)
            self._position = stop
        return b"".join(pieces)


def hub_library(name: str = "huggingface_hub") -> Any:
    """A module that the extra ``hub`` brings."""
    require_packages(HubError, "building from the Hub", "hub", name.partition(".")[0])
    return importlib.import_module(name)
