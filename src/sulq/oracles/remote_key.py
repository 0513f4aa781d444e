"""The key that a curator elsewhere is asked with: given, from the environment, or from a file of keys."""

from __future__ import annotations

import os
import stat
import tomllib
from pathlib import Path
from urllib.parse import urlsplit

from sulq.errors import AccessError, RemoteError

VARIABLE = "SULQ_KEY"
LOOPBACK = ("127.0.0.1", "::1", "localhost")


def address(url: str) -> str:
    """The address of a curator, as it is used from now on; or a refusal.

    A key must not stand in an address, which is written down in many places, and must not be sent in the
    clear.

    Args:
        url: as "https://curator.example:8443".

    >>> address("https://curator.example:8443/")
    'https://curator.example:8443'
    >>> address("http://curator.example")
    Traceback (most recent call last):
    sulq.errors.RemoteError: http://curator.example would send the key in the clear: use https
    """
    try:
        parts = urlsplit(url)
        _ = parts.port
    except (AttributeError, TypeError, ValueError):
        raise RemoteError("an address is a text, as https://curator.example:8443") from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise RemoteError(f"an address begins with https:// and names a host; {_bare(url)} does not")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise RemoteError(
            "an address has no key, no name and no question mark in it: give the key as key= or in SULQ_KEY"
        )
    if parts.scheme == "http" and parts.hostname not in LOOPBACK:
        raise RemoteError(f"{_bare(url)} would send the key in the clear: use https")
    return url.rstrip("/")


def key_for(url: str, given: str | None) -> str:
    """The key for an address: the one that is given, that in SULQ_KEY, or that in the file of keys.

    Args:
        url: the address, as `address` returns it.
        given: a key, or None.

    >>> key_for("https://curator.example", "sulq_5f0c9a1e_secret")
    'sulq_5f0c9a1e_secret'
    """
    key = given or os.environ.get(VARIABLE) or _kept(url)
    if key is None:
        raise AccessError(
            f"a key is needed for {url}: give key=, set {VARIABLE}, or write it into {key_file()} as "
            f'"{url}" = "sulq_…"'
        )
    if not isinstance(key, str) or not key.isascii() or not key.isprintable() or " " in key:
        raise AccessError("a key is one word, as sulq_5f0c9a1e_…: see that all of it was copied")
    return key


def key_file() -> Path:
    """Where keys are kept by address: keys.toml in the folder of sulq among one's configuration."""
    home = os.environ.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
    return Path(home) / "sulq" / "keys.toml"


def _kept(url: str) -> str | None:
    path = key_file()
    try:
        text, mode = path.read_text(encoding="utf-8"), path.stat().st_mode
    except FileNotFoundError:
        return None
    except OSError as error:
        raise AccessError(f"cannot read {path}: {error.strerror}") from None
    if os.name == "posix" and mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise AccessError(f"others may read {path}, which holds keys: chmod 600 {path}")
    try:
        keys = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        raise AccessError(f'{path} is not TOML: write "https://curator.example" = "sulq_…"') from None
    key = keys.get(url)
    if key is not None and not isinstance(key, str):
        raise AccessError(f'{path}: write "{url}" = "sulq_…"')
    return key


def _bare(url: str) -> str:
    """An address without what may be secret in it."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.hostname or ''}" if parts.scheme else "this"
