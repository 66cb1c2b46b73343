"""Limits on the size of input, checked before work begins, and environment variables that raise them."""

from __future__ import annotations

import os
from dataclasses import dataclass

from kalos_core.errors import InputError, check_whole, lookup, repr_of


@dataclass(frozen=True)
class Limit:
    """Default limit, and what it counts."""

    most: int
    of: str


LIMITS = {
    "KALOS_MOST_PIXELS": Limit(1 << 30, "pixels in an image"),
    "KALOS_MOST_UNPACKED": Limit(1 << 32, "bytes in a packed file"),
    "KALOS_MOST_PACKING": Limit(100, "unpacked bytes per packed byte, for files that unpack to more than 64 MiB"),
    "KALOS_MOST_CANDIDATES": Limit(500_000_000, "candidate pairs (24 bytes each, 100 bytes during matching)"),
    "KALOS_MOST_DRAWN": Limit(10**10, "resampled images (replicates times images)"),
    "KALOS_MOST_KEPT": Limit(1 << 27, "counts kept for intervals of detectors (8 bytes each)"),
    "KALOS_MOST_CONFUSED": Limit(1 << 26, "cells of confusion matrices (raters times classes squared)"),
}
"""Environment variable -> limit."""


def limit(name: str) -> int:
    """Return a limit from the environment, or its default.

    Raises
    ------
    InputError
        If the environment variable is not a whole number above 0.

    Examples
    --------
    >>> limit("KALOS_MOST_PIXELS")
    1073741824
    """
    given = os.environ.get(name)
    if given is None:
        return lookup(LIMITS, name, "limit").most
    if not (given.isascii() and given.isdigit() and len(given) < 19 and int(given)):
        raise InputError(f"{name}: expected a whole number above 0 in the environment, got {repr_of(given)}")
    return int(given)


def check_limit(name: str, needed: float, where: str) -> None:
    """Raise an error if more is needed than allowed, with both numbers and the variable that raises the limit.

    Examples
    --------
    >>> check_limit("KALOS_MOST_PIXELS", 2**30, "scan.tif")
    >>> check_limit("KALOS_MOST_PIXELS", 2**31, "scan.tif")
    Traceback (most recent call last):
    kalos_core.errors.InputError: scan.tif: expected at most 1,073,741,824 pixels in an image, got 2,147,483,648: \
KALOS_MOST_PIXELS in the environment raises the limit
    """
    most = limit(name)
    if needed > most:
        raise InputError(
            f"{where}: expected at most {most:,} {LIMITS[name].of}, got {needed:,}: "
            f"{name} in the environment raises the limit"
        )


SMALL = 1 << 26
"""Bytes that any packed file may unpack to."""


def most_unpacked(packed: int) -> int:
    """Return the number of bytes that a packed file of some size may unpack to, so that memory is proportional to it.

    Examples
    --------
    >>> most_unpacked(1_000), most_unpacked(1_000_000)
    (67108864, 100000000)
    """
    return min(limit("KALOS_MOST_UNPACKED"), max(SMALL, limit("KALOS_MOST_PACKING") * packed))


def check_unpacked(unpacked: int, packed: int, where: str) -> None:
    """Check that a packed file unpacks to at most `most_unpacked`.

    Examples
    --------
    >>> check_unpacked(2**26, 1_000, "labels.json.gz")
    >>> check_unpacked(2**27, 1_000, "labels.json.gz")
    Traceback (most recent call last):
    kalos_core.errors.InputError: labels.json.gz: expected at most 100 unpacked bytes per packed byte, for files \
that unpack to more than 64 MiB, got 134,218: KALOS_MOST_PACKING in the environment raises the limit
    """
    check_limit("KALOS_MOST_UNPACKED", unpacked, where)
    check_packing(unpacked, packed, where)


def check_packing(unpacked: int, packed: int, where: str) -> None:
    """Check how far a packed file expands, for readers that keep only parts of it in memory; its size has no limit.

    Examples
    --------
    >>> check_packing(2**40, 2**34, "labels.json.gz")
    """
    if unpacked > SMALL:
        check_limit("KALOS_MOST_PACKING", -(-unpacked // max(packed, 1)), where)


def check_pixels(width: float, height: float, where: str) -> None:
    """Check that an image, a mask or a canvas does not have too many pixels.

    Examples
    --------
    >>> check_pixels(1_000_000, 10, "a.png")
    >>> check_pixels(10**9, 10**9, "a.png")
    Traceback (most recent call last):
    kalos_core.errors.InputError: a.png: expected at most 1,073,741,824 pixels in an image, \
got 1,000,000,000,000,000,000: KALOS_MOST_PIXELS in the environment raises the limit
    """
    check_limit("KALOS_MOST_PIXELS", width * height, where)


def check_replicates(value: object, images: int = 1, name: str = "bootstrap", least: int = 0) -> int:
    """Check an argument that is a number of replicates, each of some images, against the limit.

    Examples
    --------
    >>> check_replicates(1000, images=100_000)
    1000
    >>> check_replicates(10**9, images=200)
    Traceback (most recent call last):
    kalos_core.errors.InputError: bootstrap: expected at most 10,000,000,000 resampled images (replicates times \
images), got 200,000,000,000: KALOS_MOST_DRAWN in the environment raises the limit
    """
    replicates = check_whole(value, name, least)
    check_limit("KALOS_MOST_DRAWN", replicates * max(images, 1), name)
    return replicates
