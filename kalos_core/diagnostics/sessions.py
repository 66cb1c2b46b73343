"""Sessions: agreement of people with themselves on repeated annotation, and of the team in each session."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kalos_core._agreement import Agreement, agreement_of
from kalos_core.annotations import Annotations, object_array
from kalos_core.diagnostics.parts import estimate_cells, where_seen
from kalos_core.diagnostics.rematching import refuse_local_raters, rematch
from kalos_core.display import number_of
from kalos_core.errors import InputError
from kalos_core.options import checked
from kalos_core.resampling import Estimates
from kalos_core.sharding import Sharded


@dataclass(frozen=True, eq=False, repr=False)
class IntraRater(Estimates):
    """Agreement of each of P people with themselves over their sessions.

    Figures: ``"people"``.

    Parameters
    ----------
    person : (P,) object
        All people behind the raters, in the order of the raters.
    sessions : (P,) int
        Number of sessions of each person.
    alpha, global_alpha : (P,) float64
        Mean over the images they are assigned to in at least two sessions, and of all units in one matrix; NaN for a
        person with one session.
    alpha_interval, global_alpha_interval : (P, 2) float64
        95 % bootstrap interval over images.
    images : (P,) int
        Number of images behind the mean.

    Examples
    --------
    >>> from kalos_core import Annotations, intra_rater
    >>> from kalos_core._agreement import agreement
    >>> rows = [{"image": 1, "rater": r, "category": "cat", "box": [0, 0, 9, 9]} for r in ("a", "b")]
    >>> people = {"person": ["ann", "ann"], "session": ["1", "2"]}
    >>> frame = intra_rater(agreement(Annotations.from_rows(rows, **people))).to_pandas()
    >>> frame[["person", "sessions", "alpha"]].to_dict("list")
    {'person': ['ann'], 'sessions': [2], 'alpha': [1.0]}
    """

    _call = "intra_rater(agreement(annotations))"
    _columns = "person sessions alpha global_alpha alpha_interval global_alpha_interval images"

    person: NDArray[np.object_]
    sessions: NDArray[np.intp]

    @property
    def headline(self) -> str:
        """Summary of the result in one line."""
        return f"Alpha of {len(self.person):,} people with themselves over sessions"


@dataclass(frozen=True, eq=False, repr=False)
class TeamAgreement(Estimates):
    """Agreement of the people within each of S sessions.

    Figures: ``"sessions"``.

    Parameters
    ----------
    session : (S,) object
        Sessions in the order of the raters.
    raters : (S,) int
        Number of people who took part.
    alpha, global_alpha : (S,) float64
        Mean over images, and of all units in one matrix; NaN for a session of one person.
    alpha_interval, global_alpha_interval : (S, 2) float64
        95 % bootstrap interval over images.
    images : (S,) int
        Number of images behind the mean.

    Examples
    --------
    >>> from kalos_core import Annotations, team_agreement
    >>> from kalos_core._agreement import agreement
    >>> rows = [{"image": 1, "rater": r, "category": "cat", "box": [0, 0, 9, 9]} for r in ("a", "b", "c")]
    >>> people = {"person": ["ann", "bob", "ann"], "session": ["1", "1", "2"]}
    >>> frame = team_agreement(agreement(Annotations.from_rows(rows, **people))).to_pandas()
    >>> frame["raters"].tolist(), frame["alpha"].tolist()
    ([2, 1], [1.0, nan])
    """

    _call = "team_agreement(agreement(annotations))"
    _columns = "session raters alpha global_alpha alpha_interval global_alpha_interval images"

    session: NDArray[np.object_]
    raters: NDArray[np.intp]

    @property
    def headline(self) -> str:
        """Summary of the result in one line."""
        return f"Alpha of the people of {number_of(len(self.session), 'session')} with one another"


@checked
def intra_rater(agreement: Agreement | Annotations | Sharded[Annotations]) -> IntraRater:
    """Compute intra-annotator agreement (KαLOS §13): alpha of the sessions of one person, matched on these alone.

    Parameters
    ----------
    agreement : Agreement, or annotations or shards to compute a default agreement from
        The raters of its annotations are sessions of people: `Annotations.person` and `Annotations.session`. Its
        configuration also sets the bootstrap.

    Returns
    -------
    IntraRater

    Raises
    ------
    InputError
        If no person has two sessions, or raters are local to their image.

    Examples
    --------
    >>> from kalos_core import Annotations
    >>> from kalos_core._agreement import agreement
    >>> given = [("a1", 0), ("a2", 0), ("b1", 0), ("b2", 50)]
    >>> rows = [{"image": 1, "rater": r, "category": "cat", "box": [x, 0, 9, 9]} for r, x in given]
    >>> people = {"person": ["ann", "ann", "bob", "bob"], "session": ["1", "2", "1", "2"]}
    >>> found = intra_rater(agreement(Annotations.from_rows(rows, **people)))
    >>> dict(zip(found.person.tolist(), found.alpha.tolist()))
    {'ann': 1.0, 'bob': -0.5}
    """
    agreement = _with_sessions(agreement)
    people, groups = _groups(agreement.annotations.person)
    cells = where_seen(rematch(agreement, groups), agreement.units)
    made = estimate_cells(agreement.annotations, agreement.configuration, cells, len(groups))
    return IntraRater(
        person=people,
        sessions=groups.sum(axis=1),
        **vars(made),
    )


@checked
def team_agreement(agreement: Agreement | Annotations | Sharded[Annotations]) -> TeamAgreement:
    """Compute agreement of all people within each session (KαLOS §13), matched on that session alone.

    Parameters
    ----------
    agreement : Agreement, or annotations or shards to compute a default agreement from
        See `intra_rater`.

    Returns
    -------
    TeamAgreement

    Raises
    ------
    InputError
        If no person has two sessions, or raters are local to their image.

    Examples
    --------
    >>> from kalos_core import Annotations
    >>> from kalos_core._agreement import agreement
    >>> given = [("a1", 0), ("a2", 0), ("b1", 0), ("b2", 50)]
    >>> rows = [{"image": 1, "rater": r, "category": "cat", "box": [x, 0, 9, 9]} for r, x in given]
    >>> people = {"person": ["ann", "ann", "bob", "bob"], "session": ["1", "2", "1", "2"]}
    >>> found = team_agreement(agreement(Annotations.from_rows(rows, **people)))
    >>> dict(zip(found.session.tolist(), found.alpha.tolist()))
    {'1': 1.0, '2': -0.5}
    """
    agreement = _with_sessions(agreement)
    sessions, groups = _groups(agreement.annotations.session)
    cells = where_seen(rematch(agreement, groups), agreement.units)
    made = estimate_cells(agreement.annotations, agreement.configuration, cells, len(groups))
    return TeamAgreement(
        session=sessions,
        raters=groups.sum(axis=1),
        **vars(made),
    )


@checked
def rater_labels(annotations: Annotations) -> NDArray[np.object_]:
    """(R,) display names of raters: "person (S1)" if sessions are known, else the rater's name.

    Examples
    --------
    >>> people = {"raters": ["a1", "a2"], "person": ["ann", "ann"], "session": ["1", "2"]}
    >>> rater_labels(Annotations.from_rows([], **people)).tolist()
    ['ann (S1)', 'ann (S2)']
    """
    rows = zip(annotations.raters, annotations.person, annotations.session, strict=True)
    return object_array([f"{person} (S{session})" if session != "" else name for name, person, session in rows])


def _with_sessions(source: Agreement | Annotations | Sharded[Annotations]) -> Agreement:
    agreement = agreement_of(source)
    annotations = agreement.annotations
    refuse_local_raters(annotations, "sessions")
    if len(set(annotations.person)) == len(annotations.person):
        raise InputError(
            "sessions: expected at least one person with two sessions (`person` and `session` of the annotations), "
            f"got {len(annotations.raters)} raters, each a person of their own"
        )
    return agreement


def _groups(labels: NDArray[np.object_]) -> tuple[NDArray[np.object_], NDArray[np.bool_]]:
    """(G,) distinct labels in order of first occurrence, and (G, R) whether each rater has the label."""
    distinct = object_array(dict.fromkeys(labels))
    return distinct, np.array([[label == name for label in labels] for name in distinct], dtype=np.bool_)
