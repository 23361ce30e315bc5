"""Addresses and keys of providers, checked before anything is sent to them."""

import re
from typing import NamedTuple
from urllib.parse import urlsplit

from audiocapbench.errors import ModelError


class Address(NamedTuple):
    """Where a provider is: the URL that requests start with, and its host and port for people."""

    url: str
    host: str


def checked_url(url: str, said_by: str) -> Address:
    """An http(s) address that can be asked and holds no secret.

    Args:
        url: The address as the user wrote it.
        said_by: Where it was written, for the error.

    Raises:
        ModelError: It is not such an address.
    """
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        raise ModelError(f"{said_by}: {url!r} is not a web address") from None
    if parts.username is not None or parts.password is not None:
        # The address is part of the model's name, which is stored and shown.
        raise ModelError(f"{said_by}: an address must not hold a user name or password")
    if parts.scheme not in ("http", "https") or not host or re.search(r"[\s\x00-\x1f\\]", url):
        raise ModelError(f"{said_by}: {url!r} must look like http://host:8000/v1")
    if parts.query or parts.fragment:
        raise ModelError(
            f"{said_by}: {url!r} must end with its path; leave out what follows ? or #"
        )
    shown = f"[{host}]" if ":" in host else host
    return Address(url.rstrip("/"), shown if port is None else f"{shown}:{port}")


def checked_key(key: str, name: str) -> str:
    """A key that can stand in a header; the error does not show it.

    Raises:
        ModelError: It holds characters that no key has.
    """
    if not re.fullmatch(r"[!-~]+", key):
        raise ModelError(f"{name} holds spaces or characters that a key cannot have; copy it again")
    return key
