"""Scores that systems give to whole images, from label fields or mappings, and a ranking as plain values."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations import object_array
from kalos_core.errors import InputError, Problems, as_number, listed
from kalos_core.fiftyone.diagnostics import plain
from kalos_core.fiftyone.image_labels.matching import match_items
from kalos_core.fiftyone.image_labels.sources import image_label_fields
from kalos_core.fiftyone.runs import load_figures
from kalos_core.nominal import LabelTable
from kalos_core.ranking import ConceptTruths, Rankings, SystemRanking, SystemScores, concordance, rank_systems

Scores = Mapping[str, float]
"""Label -> how sure a system is of it in an image."""

Systems = Sequence[str] | Mapping[str, str | Mapping[Hashable, Scores]]
"""Label fields, or names with a field each, or with scores by sample id or file name."""

PERMUTATIONS = 1000
"""Random orders with which concordance is compared."""


def read_scores(
    view: Any, systems: Mapping[str, Any], concepts: Sequence[str], used: Sequence[str], unlisted: float | None
) -> tuple[SystemScores, int]:
    """Scores of the concepts in all samples of a view, and how many other concepts systems name.

    Parameters
    ----------
    view : fiftyone.core.collections.SampleCollection
    systems : mapping
        As `name_systems` answers it.
    concepts : (K,) str
    used : field names
        Of raters, which are no systems.
    unlisted : float, optional
        The score of a concept that a system does not name where it names others.
    """
    fields = image_label_fields(view)
    ids = view.values("id")
    place, column = {key: row for row, key in enumerate(ids)}, {name: row for row, name in enumerate(concepts)}
    values = np.full((len(systems), len(ids), len(concepts)), np.nan)
    strange: set[str] = set()
    for row, (name, source) in enumerate(systems.items()):
        if isinstance(source, str):
            if source not in fields or source in used:
                offered = listed((field for field in fields if field not in used), 20) or "none"
                raise InputError(f"systems: expected a field of scores ({offered}), got {source!r}")
            table = _of_field(view, source, fields[source])
        else:
            table = _of_mapping(view, name, source)
        if not table:
            raise InputError(f"systems: expected scores of {name!r} for some image, got none")
        for image, scores in table.items():
            values[row, place[image]] = np.nan if unlisted is None else unlisted
            for concept, score in scores.items():
                if concept in column:
                    values[row, place[image], column[concept]] = score
                else:
                    strange.add(concept)
    return SystemScores(object_array(systems), object_array(ids), object_array(concepts), values), len(strange)


def name_systems(systems: Systems) -> dict[str, Any]:
    """The field or the scores of each system, by name; at least two.

    Examples
    --------
    >>> name_systems(["net", "svm"])
    {'net': 'net', 'svm': 'svm'}
    >>> name_systems("net")
    Traceback (most recent call last):
    kalos_core.errors.InputError: systems: expected fields, or names with their fields or scores, got 'net'
    """
    if isinstance(systems, str) or not isinstance(systems, (Mapping, Sequence)):
        raise InputError(f"systems: expected fields, or names with their fields or scores, got {systems!r}")
    named: dict[str, Any] = dict(systems) if isinstance(systems, Mapping) else {name: name for name in systems}
    wrong = [name for name, source in named.items() if not isinstance(source, (str, Mapping))]
    if wrong:
        raise InputError(f"systems: expected a field or a mapping of images to scores for {listed(map(repr, wrong))}")
    if len(named) < 2:
        raise InputError(f"systems: a ranking needs at least two, got {len(named)}")
    return named


def _of_field(view: Any, field: str, path: str) -> dict[str, dict[str, float]]:
    """Scores by sample id: logits where a sample has them, else the confidence of each label."""
    names = ["id", "filepath", f"{field}._cls", f"{path}.label", f"{path}.confidence"]
    ids, files, there, labels, confidences = view.values(names, _raw=True)
    logits = view.values(f"{field}.logits")
    classes = _classes(view, field) if any(row is not None for row in logits) else []
    problems, found = Problems(f"field {field!r}"), {}
    for row, image in enumerate(ids):
        if there[row] is None:
            continue
        record = Path(files[row]).name
        if logits[row] is not None:
            if len(logits[row]) != len(classes):
                problems.add(record, f"{len(classes)} logits, one for each class", len(logits[row]))
                continue
            chances = _sigmoid(logits[row]) if path != field else _softmax(logits[row])
            found[image] = dict(zip(classes, chances.tolist(), strict=True))
            continue
        several = path != field
        pairs = (
            list(zip(labels[row] or [], confidences[row] or [], strict=False))
            if several
            else [(labels[row], confidences[row])]
        )
        for label, confidence in pairs:
            if not label or _score(confidence) is None:
                problems.add(record, "a label with its confidence, or logits", f"{label!r}, {confidence!r}")
        if several and labels[row] and len(pairs) < len(labels[row]):
            problems.add(record, "a confidence of every label, or logits", "none")
        found[image] = {label: float(confidence) for label, confidence in pairs if _score(confidence) is not None}
    problems.raise_if_any()
    return found


def _classes(view: Any, field: str) -> list[str]:
    dataset = view._root_dataset
    classes = list(dataset.classes.get(field) or dataset.default_classes)
    if not classes:
        raise InputError(
            f"field {field!r}: has logits, of which nobody says what they mean; set dataset.classes[{field!r}]"
        )
    return classes


def _softmax(logits: Any) -> NDArray[np.float64]:
    powers = np.exp(np.asarray(logits, np.float64) - np.max(logits))
    return np.asarray(powers / powers.sum())


def _sigmoid(logits: Any) -> NDArray[np.float64]:
    return np.asarray(1 / (1 + np.exp(-np.asarray(logits, np.float64))))


def _score(value: object) -> float | None:
    number = as_number(value)
    return None if number is None or number != number else number


def _of_mapping(view: Any, name: str, given: Mapping[Hashable, Any]) -> dict[str, dict[str, float]]:
    """Scores by sample id, of images given by id or file name."""
    problems, found = Problems(f"scores of {name!r}"), {}
    for item, image in match_items(view, list(given), f"scores of {name!r}").items():
        scores = given[item]
        if not isinstance(scores, Mapping):
            problems.add(f"image {item!r}", "a mapping of labels to scores", repr(scores))
            continue
        for concept, score in scores.items():
            if _score(score) is None:
                problems.add(f"image {item!r}, {concept}", "a number", repr(score))
        found[image] = {str(concept): score for concept, score in scores.items()}
    problems.raise_if_any()
    return found


def rank(table: LabelTable, scores: SystemScores, settings: Mapping[str, Any]) -> SystemRanking:
    """The ranking of systems under each rater and the majority, with the settings of a run."""
    tree = settings["tree"]
    return rank_systems(
        scores,
        ConceptTruths.from_labels(table),
        None if tree is None else {edge["node"]: edge["above"] for edge in tree},
        decision=settings["decision"],
        missing=settings["missing"],
    )


def rank_again(table: LabelTable, settings: Mapping[str, Any], stored: Mapping[str, NDArray[Any]]) -> SystemRanking:
    """The same for the labels of today, from the scores that a run stored."""
    names = {name: object_array(stored[f"score_{name}"].tolist()) for name in ("systems", "images", "concepts")}
    return rank(table, SystemScores(values=stored["scores"], **names), settings)


def score_arrays(scores: SystemScores) -> dict[str, NDArray[Any]]:
    """What a run stores of scores."""
    names = {f"score_{name}": getattr(scores, name).astype(str) for name in ("systems", "images", "concepts")}
    return {"scores": scores.values, **names}


def ranking_figures(result: SystemRanking, unknown: int) -> dict[str, Any]:
    """The summary of a ranking."""
    return {
        "truths": result.truths.tolist(),
        "systems": result.systems.tolist(),
        "images": len(result.images),
        "concepts": len(result.concepts),
        "skipped_images": result.skipped_images,
        "unknown_concepts": unknown,
        "measures": [
            {
                "measure": name,
                "less_is_better": ranking.less_is_better,
                "values": plain(ranking.values),
                "ranks": plain(ranking.ranks),
                "times_best": plain(ranking.times_best),
                "best_changes": plain(ranking.best_changes),
                "undefined": list(ranking.undefined),
            }
            for name, ranking in result.rankings.items()
        ],
        "left_out": [
            {"truth": truth, "concepts": result.concepts[gone].tolist()}
            for truth, gone in zip(result.truths.tolist(), result.left_out, strict=True)
            if gone.any()
        ],
    }


def stored_rankings(samples: Any, run_key: str) -> dict[str, Rankings]:
    """The rankings of a run by each measure, as they were stored."""
    figures = load_figures(samples, run_key, "ranking").figures
    names = object_array(figures["truths"]), object_array(figures["systems"])
    return {
        row["measure"]: Rankings(
            row["measure"],
            *names,
            np.array(row["values"], np.float64),
            row["less_is_better"],
            tuple(row["undefined"]),
        )
        for row in figures["measures"]
    }


def ranking_diagnostics(result: SystemRanking, seed: int) -> dict[str, Any]:
    """How far the rankings agree, by measure: Kendall's tau and concordance."""
    found = []
    for name, ranking in result.rankings.items():
        near = concordance(ranking, PERMUTATIONS, seed)
        found.append(
            {
                "measure": name,
                "tau": plain(ranking.tau),
                "tau_p": plain(ranking.tau_p),
                "distance": plain(near.distance),
                "distance_p": plain(near.p),
            }
        )
    return {"measures": found, "auc": plain(result.auc), "eer": plain(result.eer)}


Tree = Mapping[str, str | None]
"""Node -> the node above it."""


def tree_record(tree: Tree | None) -> list[dict[str, Any]] | None:
    """A tree as records: names of nodes may hold what keys may not.

    Examples
    --------
    >>> tree_record({"cat": "animal"})
    [{'node': 'cat', 'above': 'animal'}]
    """
    return None if tree is None else [{"node": node, "above": above} for node, above in tree.items()]
