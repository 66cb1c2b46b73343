"""Ranked lists that several sections send; `look/ranked.tsx` draws them."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from kalos_core.diagnostics import ClassDifficulty
from kalos_core.diagnostics.classes import hardest_first
from kalos_core.errors import Undefined

from .rows import Row, rows_of


def ranked_classes(classes: ClassDifficulty | Undefined) -> list[Row]:
    """Return classes with an alpha, hardest first: those on enough images, then the others."""
    if isinstance(classes, Undefined):
        return []
    ranked = hardest_first(classes.alpha, classes.images)
    rising = np.argsort(classes.alpha, kind="stable")
    others = rising[np.isfinite(classes.alpha[rising]) & ~np.isin(rising, ranked)]
    is_ranked = np.isin(np.arange(len(rising)), ranked)
    return rows_of([*ranked, *others], **_alphas(classes.category, classes), units=classes.units, is_ranked=is_ranked)


def ranked_estimates(names: Any, found: Any) -> list[Row]:
    """Return names with the alphas of `Estimates`, lowest first, undefined last."""
    return rows_of(np.argsort(found.alpha, kind="stable"), **_alphas(names, found))


def _alphas(names: Any, found: Any) -> dict[str, Any]:
    low, high = found.alpha_interval.T
    return {"name": names, "value": found.alpha, "low": low, "high": high, "images": found.images}


def most_first(counts: Mapping[str, int]) -> list[Row]:
    """Return names with their counts, largest first."""
    return [{"name": name, "value": counts[name]} for name in sorted(counts, key=lambda name: -counts[name])]
