"""Memory that was needed once is given back."""

from __future__ import annotations

import ctypes
import sys
from contextlib import suppress

LARGE = 2**20
"""Bytes: blocks from this size on are asked of the system one by one, and given back when they are freed."""
M_MMAP_THRESHOLD = -3


def give_back_large_blocks() -> None:
    """Let the C library give back large blocks as soon as they are free.

    By default glibc learns from a large block that was freed to keep such blocks, in a pool of each thread. A
    service has many threads, so one wide round after the other would fill all of these pools.
    """
    if sys.platform.startswith("linux"):
        with suppress(OSError, AttributeError):  # another C library has no such pools
            ctypes.CDLL(None).mallopt(M_MMAP_THRESHOLD, LARGE)
