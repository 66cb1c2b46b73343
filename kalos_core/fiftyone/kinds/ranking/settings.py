"""Settings of a ranking of classifiers: the classifiers, their scores, and which labels exclude each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from kalos_core.errors import InputError, check_name, listed, repr_of
from kalos_core.fiftyone.runs.progress import RunArguments
from kalos_core.nominal.build import Repeats
from kalos_core.nominal.grouping import Grouping, Teams
from kalos_core.options import Option
from kalos_core.ranking.scores import Unlisted
from kalos_core.ranking.systems import RankingSettings


def name_systems(systems: Any, name: str = "systems") -> dict[str, Any]:
    """Return name -> field or scores of at least two classifiers; a run stores given scores as an empty mapping.

    Examples
    --------
    >>> name_systems(["net", "svm"])
    {'net': 'net', 'svm': 'svm'}
    >>> name_systems("net")
    Traceback (most recent call last):
    kalos_core.errors.InputError: systems: expected fields, or names with their fields or scores, got 'net'
    """
    if isinstance(systems, str) or not isinstance(systems, (Mapping, Sequence)):
        raise InputError(f"{name}: expected fields, or names with their fields or scores, got {repr_of(systems)}")
    fields = systems if isinstance(systems, Mapping) else {check_name(of, name): of for of in systems}
    named: dict[str, Any] = dict(fields)
    wrong = [of for of, source in named.items() if not isinstance(source, (str, Mapping))]
    if wrong:
        raise InputError(f"{name}: expected a field or a mapping of images to scores for {listed(map(repr, wrong))}")
    if len(named) < 2:
        raise InputError(f"{name}: a ranking needs at least two, got {len(named)}")
    return named


@dataclass(frozen=True, kw_only=True)
class RankingRunSettings(RankingSettings):
    """Settings for the ranking of classifiers."""

    systems: Annotated[
        Any,
        Option(
            "Classifiers",
            "At least two fields of `Classification` or `Classifications`; or names with a field each, or with scores "
            "as {image: {label: score}}, images by sample id or file name.",
            type="list of fields, or mapping",
            check=name_systems,
        ),
    ]
    groups: Grouping = "label"
    teams: Teams = None
    unlisted: Unlisted = 0.0
    on_repeat: Repeats = "raise"


@dataclass(frozen=True, kw_only=True)
class RankingRunArguments(RankingRunSettings, RunArguments):
    """Arguments of `rank_systems`."""
