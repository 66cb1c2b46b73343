"""App settings for a data set of several raters: colours, sidebar groups and active fields."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import fiftyone as fo

from kalos_core.display import RATER_COLOURS, rater_colour
from kalos_core.fiftyone.dataset.database import keep, server
from kalos_core.fiftyone.dataset.document import own_runs, refresh
from kalos_core.fiftyone.dataset.raters import IMAGE_LABELS, MASKS, OBJECTS, rater_fields
from kalos_core.fiftyone.internals import add_to_sidebar, root_of
from kalos_core.fiftyone.runs.explaining import explained
from kalos_core.fiftyone.runs.keys import RunNames

RATERS, RUNS = "raters", "runs"
"""Sidebar groups: label fields of raters, and fields that runs wrote."""


def arrange_app(dataset: Any) -> None:
    """Configure the App: raters first in the sidebar, active and in the colours of the figures; fields of runs last.

    The first raters are active, one per colour, and the first image alpha and the first map of the runs.
    Fields of later runs are placed automatically. User choices are kept: colours, other groups, active fields. If no
    raters are stored, the fields that runs read count as raters, and FiftyOne's default fields stay active.

    Parameters
    ----------
    dataset : fiftyone.core.dataset.Dataset
        A data set with stored raters, or masks.

    Examples
    --------
    >>> from kalos_core.fiftyone.dataset.raters import store_raters
    >>> dataset = fo.Dataset()
    >>> for name in ("bob", "ann"):
    ...     dataset.add_sample_field(name, fo.EmbeddedDocumentField, embedded_doc_type=fo.Detections)
    >>> store_raters(dataset, {"bob": "bob", "ann": "ann"})
    >>> arrange_app(dataset)
    >>> list(dataset.app_config.active_fields.paths), [group.name for group in dataset.app_config.sidebar_groups][:2]
    (['bob', 'ann'], ['raters', 'tags'])
    >>> [given["fieldColor"] for given in dataset.app_config.color_scheme.fields] == list(RATER_COLOURS[:2])
    True
    >>> dataset.delete()
    """
    dataset = root_of(dataset)
    with explained(dataset, "the labels are there, but the App settings were not changed"):
        refresh(dataset)
        known = server()
        _arrange(dataset, dataset.app_config)
        dataset.save()
        keep(dataset, known)


def _arrange(dataset: Any, config: Any) -> None:
    raters = [list(rater_fields(dataset, family).values()) for family in (OBJECTS, IMAGE_LABELS, MASKS)]
    at_first = fo.ActiveFields(paths=[])
    if not any(raters):
        read = (field for about in own_runs(dataset).values() for field in about.config.label_fields)
        raters, at_first = [list(dict.fromkeys(read))], fo.DatasetAppConfig.default_active_fields(dataset)
    scheme = config.color_scheme or fo.ColorScheme(color_by="field")
    given = {entry["path"]: entry for entry in scheme.fields or ()}
    for fields in raters:
        for number, field in enumerate(fields):
            given.setdefault(field, {"path": field, "fieldColor": rater_colour(number)})
    scheme.fields = list(given.values())
    config.color_scheme = scheme
    if config.sidebar_groups is None:
        config.sidebar_groups = fo.DatasetAppConfig.default_sidebar_groups(dataset)
        for group in config.sidebar_groups:
            group.expanded = False if group.name == "metadata" else group.expanded
    names = [group.name for group in config.sidebar_groups]
    if RATERS not in names:
        config.sidebar_groups.insert(0, fo.SidebarGroupDocument(name=RATERS))
    if RUNS not in names:
        config.sidebar_groups.append(fo.SidebarGroupDocument(name=RUNS, expanded=False))
    if config.active_fields is None:
        config.active_fields = at_first
    for fields in raters:
        add_to_sidebar(config, fields, RATERS)
        _tick(config, fields[: len(RATER_COLOURS)])
    config.sidebar_groups = [group for group in config.sidebar_groups if group.paths or group.name != "labels"]
    for key, about in own_runs(dataset).items():
        _place(dataset, key, about.config.fields)


def place_fields(dataset: Any, run_key: str, paths: Iterable[str]) -> None:
    """Place the fields of a run as `arrange_app` does, if the data set was arranged by it."""
    if any(group.name == RUNS for group in dataset.app_config.sidebar_groups or ()):
        _place(dataset, run_key, paths)
        dataset.save()


def tick_instead(dataset: Any, old_key: str, new_key: str) -> None:
    """Replace the active fields of an old run by those of the new run that repeats it."""
    old, new = RunNames(old_key).of_samples, RunNames(new_key).of_samples
    if ticked := dataset.app_config.active_fields:
        instead = dict(zip(old, new, strict=True))
        ticked.paths = [instead.get(path, path) for path in ticked.paths]
        dataset.save()


def _place(dataset: Any, run_key: str, paths: Iterable[str]) -> None:
    config = dataset.app_config
    fields = {path: dataset.get_field(path) for path in paths if "." not in path and dataset.has_field(path)}
    add_to_sidebar(config, list(fields), RUNS)
    own = next(group.paths for group in config.sidebar_groups if group.name == RUNS)
    for path, field in fields.items():
        if path == RunNames(run_key).alpha or getattr(field, "document_type", None) is fo.Heatmap:
            ticked = [dataset.get_field(other) for other in config.active_fields.paths if other in own]
            if not any(type(other) is type(field) for other in ticked):
                _tick(config, [path])


def _tick(config: Any, fields: Iterable[str]) -> None:
    config.active_fields.paths = list(dict.fromkeys([*config.active_fields.paths, *fields]))
