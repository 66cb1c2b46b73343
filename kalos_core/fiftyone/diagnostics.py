"""What a run of agreement stores beside its summary: diagnostics as plain values, and what filters them later."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kalos_core._agreement import Agreement
from kalos_core.diagnostics import (
    class_difficulty,
    collaboration,
    intra_rater,
    rater_vitality,
    sensitivity,
    team_agreement,
)
from kalos_core.diagnostics.rematching import rematch
from kalos_core.errors import InputError

STRICT = 0.9
"""The strict threshold of localization sensitivity, unless the run's own is stricter."""


def diagnostic_figures(result: Agreement, thresholds: Sequence[float]) -> dict[str, Any]:
    """All diagnostics of an agreement as plain values, None for what is undefined.

    Parameters
    ----------
    result : Agreement
        Its pairs go down to the least of `thresholds`.
    thresholds : (T,) float
        Of the sensitivity curve; empty for none.

    Returns
    -------
    dict
        ``sensitivity``, ``class_difficulty``, ``vitality``, ``collaboration``, ``intra_rater`` and
        ``team_agreement``: each the fields of the result of that name in `kalos_core.diagnostics`, or
        ``{"reason": ...}`` where it is refused.

    Examples
    --------
    >>> from kalos_core import Annotations
    >>> from kalos_core._agreement import agreement
    >>> rows = [{"image": 1, "rater": r, "category": "cat", "box": [0, 0, 9, 9]} for r in ("ann", "bob")]
    >>> figures = diagnostic_figures(agreement(Annotations.from_rows(rows)), [])
    >>> figures["class_difficulty"]["alpha"], figures["vitality"]["reason"][:44]
    ([1.0], 'vitality: expected at least three raters, si')
    """
    chosen = result.configuration

    def curve(agreed: Agreement) -> Any:
        if not len(thresholds):
            raise InputError("sensitivity: not asked for in this run (thresholds)")
        return sensitivity(
            agreed.annotations,
            thresholds,
            anchor=chosen.threshold,
            strict=max(STRICT, chosen.threshold),
            similarity=chosen.similarity,
            solver=chosen.solver,
            cost=chosen.cost,
            bootstrap=chosen.bootstrap,
            seed=chosen.seed,
            pairs=agreed.pairs,
        )

    parts: dict[str, Callable[[Agreement], Any]] = {
        "sensitivity": curve,
        "class_difficulty": class_difficulty,
        "vitality": rater_vitality,
        "collaboration": collaboration,
        "intra_rater": intra_rater,
        "team_agreement": team_agreement,
    }
    return {name: _or_reason(part, result) for name, part in parts.items()}


def _or_reason(part: Callable[[Agreement], Any], result: Agreement) -> dict[str, Any]:
    """The fields of a diagnostic; why there is none where it is undefined for these raters."""
    try:
        figures: dict[str, Any] = plain(part(result))
        return figures
    except InputError as error:
        return {"reason": str(error)}


def plain(value: Any) -> Any:
    """Arrays as lists, dataclasses as dicts, NaN as None, at any depth: what can be stored and sent.

    Examples
    --------
    >>> plain(np.array([[0.5, np.nan]])), plain((1, "a")), plain({"std": np.float64("nan")})
    ([[0.5, None]], [1, 'a'], {'std': None})
    """
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, np.ndarray) and value.dtype.kind == "f":
        return np.where(np.isnan(value), None, value).tolist()  # type: ignore[call-overload]
    if isinstance(value, (np.ndarray, np.generic)):
        return plain(value.tolist())
    if isinstance(value, (list, tuple)):
        return [plain(entry) for entry in value]
    if isinstance(value, Mapping):
        return {key: plain(entry) for key, entry in value.items()}
    return None if isinstance(value, float) and value != value else value


def pair_image_alphas(result: Agreement) -> dict[str, NDArray[Any]]:
    """Alpha of each image for each two raters, matched on these alone, flat: what a click on a pair needs.

    Raters that are local to their image have none.
    """
    annotations = result.annotations
    if annotations.raters_are_local:
        return {}
    raters = len(annotations.raters)
    first, second = np.triu_indices(raters, 1)
    groups = np.zeros((len(first), raters), np.bool_)
    groups[np.arange(len(first)), first] = groups[np.arange(len(first)), second] = True
    cells = rematch(result, groups)
    return {
        "pair_rater_a": narrow(first[cells.statistic]),
        "pair_rater_b": narrow(second[cells.statistic]),
        "pair_image": narrow(cells.image),
        "pair_alpha": cells.value,
    }


def stored_units(result: Agreement) -> dict[str, NDArray[Any]]:
    """Units, and marks without their shapes: enough to look at a class or a rater without reading any label."""
    annotations = result.annotations
    limits = annotations.assigned_categories
    return {
        **({} if limits is None else {"assigned_categories": limits}),
        "image_alpha": result.image_alpha,
        "unit_of": narrow(result.unit_of),
        "mark_image": narrow(annotations.image),
        "mark_rater": narrow(annotations.rater),
        "mark_category": narrow(annotations.category),
        "assigned": annotations.assigned,
        "raters": annotations.raters.astype(str),
        "categories": annotations.categories.astype(str),
    }


def narrow(codes: NDArray[np.intp]) -> NDArray[Any]:
    """Whole numbers from 0 in the smallest type that holds them.

    Examples
    --------
    >>> narrow(np.array([0, 300])).dtype
    dtype('uint16')
    """
    return codes.astype(np.min_scalar_type(int(codes.max(initial=0))))
