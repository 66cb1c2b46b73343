"""The command that ranks models."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kalos_core import Annotations, InputError, rank_models, read_coco
from kalos_core.cli.answers import Answer
from kalos_core.cli.commands import Command
from kalos_core.cli.objects import LABELS
from kalos_core.cli.options import Given, Option, options_of
from kalos_core.cli.reading import OF_ANNOTATIONS, annotations_of
from kalos_core.errors import Problems, as_number
from kalos_core.readers.files import load_json


def _rank(given: Given) -> Answer:
    annotations = annotations_of(given, given["labels"])
    entries = given.get("models", {})
    if not isinstance(entries, dict):
        entries = dict(map(_named, [entries] if isinstance(entries, str) else entries))
    models = {name: read_predictions(Path(file), given["labels"], name) for name, file in entries.items()}
    found = rank_models(models, annotations, **given.of(rank_models, without=("models",)))
    ranking = found.ranking
    results = {
        "similarity": found.similarity_name,
        "thresholds": found.thresholds,
        "times_best": dict(zip(ranking.systems.tolist(), ranking.times_best.tolist(), strict=True)),
        "best_changes": ranking.best_changes,
        "unknown_classes": dict(zip(found.models.tolist(), found.unknown_classes.tolist(), strict=True)),
        "undefined": ranking.undefined,
    }
    text = f"{len(found.models):,} models by mAP with each of {len(found.truths):,} raters as reference"
    return Answer("\n".join([text, *ranking.undefined]), results, {"models": found.to_pandas()}, ("models",))


def _named(entry: str) -> tuple[str, str]:
    """The name of a model and the file of its predictions."""
    name, _, file = entry.partition("=")
    return (name, file) if file else (Path(entry).stem, entry)


def read_predictions(path: Path, labels: Path, name: str) -> tuple[Annotations, NDArray[np.float64]]:
    """Predictions of a model: COCO's list of results, or a COCO file with a ``score`` in each annotation.

    Parameters
    ----------
    path : Path
    labels : Path
        The COCO file that the ``image_id`` and ``category_id`` of a list of results are from.
    name : str
        Of the model.

    Returns
    -------
    predictions : Annotations
    scores : (N,) float64

    Raises
    ------
    InputError
        For a file that `read_coco` cannot read, or a prediction without a score.

    Examples
    --------
    >>> import json
    >>> images, categories = [{"id": 1, "file_name": "a.jpg", "width": 9, "height": 9}], [{"id": 1, "name": "cat"}]
    >>> _ = Path("rated.json").write_text(json.dumps({"images": images, "categories": categories}))
    >>> found = [{"image_id": 1, "category_id": 1, "bbox": [1, 1, 5, 5], "score": 0.9}]
    >>> _ = Path("net.json").write_text(json.dumps(found))
    >>> predictions, scores = read_predictions(Path("net.json"), Path("rated.json"), "net")
    >>> predictions.categories.tolist(), scores.tolist()
    (['cat'], [0.9])
    """
    content = load_json(path, "file of predictions")
    frame = load_json(labels, "COCO file") if isinstance(content, list) else content
    rows = content if isinstance(content, list) else _list_in(frame, "annotations", path)
    source = labels if isinstance(content, list) else path
    images = [{**_mapping(row, source), "rater_list": [name]} for row in _list_in(frame, "images", source)]
    problems = Problems(str(path))
    annotations, scores = list[dict[str, Any]](), list[float]()
    for number, row in enumerate(rows, 1):
        given = _mapping(row, path)
        score = as_number(given.get("score"))
        if score is None or not np.isfinite(score):
            problems.add(f"prediction {number}", "a score", given.get("score", "none"))
        annotations.append({**given, "id": number, "rater_id": name, "iscrowd": 0})
        scores.append(np.nan if score is None else score)
    problems.raise_if_any()
    categories = _list_in(frame, "categories", source)
    predictions = read_coco({"images": images, "categories": categories, "annotations": annotations})
    return predictions, np.array(scores, np.float64)[predictions.id.astype(np.intp) - 1]


def _list_in(content: Any, name: str, path: Path) -> list[Any]:
    found = content.get(name) if isinstance(content, dict) else None
    if not isinstance(found, list):
        raise InputError(f"{path}: expected COCO with a list {name!r}, got none")
    return found


def _mapping(row: object, path: Path) -> dict[str, Any]:
    if not isinstance(row, dict):
        raise InputError(f"{path}: expected records of COCO, got {row!r}")
    return row


_MODELS = Option(
    "models",
    (str,),
    several=True,
    mapping=True,
    of_mapping=Option("models", (str,)),
    help="files of predictions, COCO's list of results each, as name=file; in a configuration file name: file",
)

COMMANDS = (
    Command(
        "rank",
        "how models rank by mAP with each rater as reference",
        _rank,
        (LABELS,),
        (_MODELS, *options_of(rank_models, without=("models", "consensus")), *OF_ANNOTATIONS),
    ),
)
