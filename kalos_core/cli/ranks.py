"""The command that ranks models."""

from __future__ import annotations

import csv
from collections.abc import Hashable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kalos_core import Annotations, ConceptTruths, InputError, rank_systems, read_coco
from kalos_core.cli.answers import Answer, Order, numbers_of
from kalos_core.cli.commands import Command
from kalos_core.cli.options import Flag, Given, check_path, options_of
from kalos_core.cli.reading import (
    OF_ANNOTATIONS,
    OF_TABLES,
    TABLES,
    annotations_of,
    format_option,
    is_table,
    table_of,
)
from kalos_core.display import number_of
from kalos_core.errors import Problems, as_number, listed, repr_of
from kalos_core.files import load_json, read_text
from kalos_core.ranking import SystemScores, rank_models
from kalos_core.readers import FORMATS
from kalos_core.readers.column_names import find_label_columns


def _rank(given: Given) -> Answer:
    files = _files(given)
    for file in files.values():
        check_path(Path(file), "file", "--predictions")
    if not files:
        raise InputError(
            "--predictions: expected the files of one model or more, such as --predictions net=net.json, got none"
        )
    return _rank_classifiers(given) if is_table(given, given["labels"]) else _rank_detectors(given)


def _rank_classifiers(given: Given) -> Answer:
    table = table_of(given, given["labels"])
    truths = ConceptTruths.from_labels(table, **given.of(ConceptTruths.from_labels))
    items = {str(item): item for item in table.items.tolist()}  # ids of tasks are numbers
    read = {name: read_scores(Path(file), given) for name, file in _files(given).items()}
    tables = {name: {items.get(str(key), key): of for key, of in found.items()} for name, found in read.items()}
    scores = SystemScores.from_tables(tables, **given.of(SystemScores.from_tables))
    found = rank_systems(scores, truths, **given.of(rank_systems))
    undefined = [text for ranking in found.rankings.values() for text in ranking.undefined]
    results = {
        **numbers_of(found, "skipped_images", "unknown_images", "unknown_concepts"),
        "best_changes": {name: ranking.best_changes for name, ranking in found.rankings.items()},
        "undefined": undefined,
    }
    text = f"{number_of(len(found.systems), 'classifier')} with each of {number_of(len(found.truths), 'reference')}"
    tables_found = {"classifiers": found.to_pandas(), "concepts": found.by_concept()}
    return Answer("\n".join([text, *undefined]), results, tables_found, {"classifiers": Order()})


def read_scores(path: Path, given: Given) -> dict[Hashable, dict[str, float]]:
    r"""Read scores of a classifier from a CSV file with columns for item, label and ``score``.

    Parameters
    ----------
    path : Path
    given : Given
        Names of the columns ``item`` and ``label``, as for the table of labels; by default, usual names are recognised.

    Returns
    -------
    dict of item to dict of label to score

    Raises
    ------
    InputError
        For a missing column, a score that is not a number, or a label that an item has twice.

    Examples
    --------
    >>> _ = Path("scores.csv").write_text("item,label,score\na.jpg,cat,0.9\na.jpg,dog,0.2\n")
    >>> read_scores(Path("scores.csv"), Given({}))
    {'a.jpg': {'cat': 0.9, 'dog': 0.2}}
    """
    reader = csv.DictReader(read_text(path, "CSV file").splitlines())
    header = [name for name in reader.fieldnames or () if name != "score"]
    named = {"item": given.get("item"), "rater": "", "label": given.get("label")}
    found_columns = find_label_columns(header, named, path.name, lambda _: ["one"]) or {}
    columns = [found_columns.get(name, given.get(name, name)) for name in ("item", "label")] + ["score"]
    missing = [name for name in columns if name not in (reader.fieldnames or ())]
    if missing:
        raise InputError(f"{path}: expected the columns {listed(missing)}, got {listed(reader.fieldnames or ())}")
    found: dict[Hashable, dict[str, float]] = {}
    problems = Problems(str(path))
    for row in reader:
        item, label, score = ((row[name] or "").strip() for name in columns)
        of_item = found.setdefault(item, {})
        if label in of_item:
            problems.add(f"line {reader.line_num}", "one score of each label and item", f"another of {label!r}")
        try:
            of_item[label] = float(score)
        except ValueError:
            problems.add(f"line {reader.line_num}", "a number as score", repr(score))
    problems.raise_if_any()
    return found


def _files(given: Given) -> dict[str, str]:
    """Return the file of predictions of each model by name."""
    entries = given.get("predictions", {})
    return (
        entries if isinstance(entries, dict) else dict(map(_named, [entries] if isinstance(entries, str) else entries))
    )


def _rank_detectors(given: Given) -> Answer:
    annotations = annotations_of(given, given["labels"])
    files = _files(given)
    models = {name: read_predictions(Path(file), given["labels"], name) for name, file in files.items()}
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
    text = (
        f"{number_of(len(found.models), 'model')} by mAP ({found.similarity_name}) with each of "
        f"{number_of(len(found.truths), 'rater')} as reference"
    )
    return Answer("\n".join([text, *ranking.undefined]), results, {"models": found.to_pandas()}, {"models": Order()})


def _named(entry: str) -> tuple[str, str]:
    """Split an entry into the name of a model and the file of its predictions."""
    name, _, file = entry.partition("=")
    return (name, file) if file else (Path(entry).stem, entry)


def read_predictions(path: Path, labels: Path, name: str) -> tuple[Annotations, NDArray[np.float64]]:
    """Read predictions of a model: COCO's list of results, or a COCO file with a ``score`` in each annotation.

    Parameters
    ----------
    path : Path
    labels : Path
        COCO file that defines the ``image_id`` and ``category_id`` of a list of results.
    name : str
        Name of the model.

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
        raise InputError(f"{path}: expected records of COCO, got {repr_of(row)}")
    return row


_PREDICTIONS = Flag(
    "predictions",
    str | list[str] | dict[Any, str],
    "Files of model predictions, as name=file: COCO's list of results, or a CSV file of scores; in YAML name: file.",
)

COMMANDS = (
    Command(
        "rank",
        "rankings of models with each rater as reference: detectors by mAP, image classifiers by AUC",
        _rank,
        (("labels", "annotations of objects in any format, or image-level labels in any format of kalos-core labels"),),
        (
            format_option(*TABLES, *FORMATS),
            _PREDICTIONS,
            *options_of(rank_models, without=("models", "consensus")),
            *options_of(rank_systems, without=("weights",)),
            *options_of(SystemScores.from_tables, only=("unlisted",)),
            *options_of(ConceptTruths.from_labels),
            *OF_ANNOTATIONS,
            *OF_TABLES,
        ),
        example="labels.json --predictions net=net.json",
        tables=("classifiers", "concepts", "models"),
    ),
)
