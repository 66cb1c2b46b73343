"""Agreement on labels of whole images on FiftyOne."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import fiftyone as fo
import numpy as np

from kalos_core.errors import InputError, check_whole, lookup
from kalos_core.fiftyone.analyses.steps import COMPARING, READING, WRITING
from kalos_core.fiftyone.diagnostics import plain
from kalos_core.fiftyone.image_labels import (
    Groups,
    ImageLabels,
    LabelFindings,
    check_width,
    diagnostics_of,
    figures_of,
    find_all,
    groups_record,
    pack_table,
    read_image_labels,
)
from kalos_core.fiftyone.labels import LabelChoice, check_samples, every_sample
from kalos_core.fiftyone.progress import Progress, Report
from kalos_core.fiftyone.runs import Run, RunNames, check_run_key, writing
from kalos_core.nominal import QUORUM, OnRepeat, check_quorum
from kalos_core.nominal.questions import check_two_raters
from kalos_core.sparse import WEIGHTS


def compute_label_agreement(
    samples: Any,
    run_key: str,
    *,
    groups: Groups = "label",
    weights: str = "annotations_m1",
    bootstrap: int = 1000,
    seed: int = 0,
    quorum: float = QUORUM,
    width: float = 0.1,
    on_repeat: OnRepeat = "raise",
    choice: LabelChoice | None = None,
    progress: Progress | bool | None = None,
    **options: Any,
) -> Run:
    """How far raters agree on labels of whole images.

    Writes two fields on samples: ``<key>_agreement``, the probability that two raters of the image answer a question
    alike, mean over the questions that two answered (None where there is none), and ``<key>_disputed``, whether the
    image is in dispute.

    Parameters
    ----------
    samples : fiftyone.core.collections.SampleCollection
    run_key : str
        Names everything the run writes.
    groups, on_repeat, choice, **options
        As in `read_label_table`.
    weights : name in `kalos_core.sparse.WEIGHTS`
        Of images in the sparse probability of agreement.
    bootstrap, seed : int
        Replicates of the intervals, 0 for none.
    quorum : float in (0, 1]
        An image is in dispute where, on some question, the leading answer has less than this share of the answers.
    width : float
        The width of the interval from which on a running curve is narrow enough.
    progress : bool or callable, optional

    Returns
    -------
    Run
        Its `result` is a `LabelFindings`.

    Raises
    ------
    InputError
        For input that cannot be used; nothing is stored then.

    Examples
    --------
    >>> dataset = fo.Dataset()
    >>> def label(name):
    ...     return fo.Classification(label=name)
    >>> _ = dataset.add_samples(
    ...     [fo.Sample(f"{n}.jpg", ann=label("cat"), bob=label("cat" if n else "dog")) for n in range(4)],
    ...     progress=False,
    ... )
    >>> run = compute_label_agreement(dataset, "first", raters=("ann", "bob"))
    >>> run.figures["disputed"], dataset.values("first_agreement")
    (1, [0.0, 1.0, 1.0, 1.0])
    >>> dataset.delete()
    """
    choice = LabelChoice.of(choice, options)
    with Report(progress) as report:
        check_samples(samples)
        check_run_key(samples, run_key)
        lookup(WEIGHTS, weights, "weights")
        settings = {
            "groups": groups_record(groups),
            "weights": weights,
            "bootstrap": check_whole(bootstrap, "bootstrap"),
            "seed": check_whole(seed, "seed"),
            "quorum": check_quorum(quorum),
            "width": check_width(width),
            "on_repeat": on_repeat,
        }
        report(READING, "Reading labels")
        labels = read_image_labels(samples, choice, groups, on_repeat)
        check_answers(labels)
        found = find_all(
            labels.table, settings, lambda share, label: report(COMPARING + share * (WRITING - COMPARING), label)
        )
        report(WRITING, "Storing agreement")
        names = RunNames(run_key)
        fields: dict[str, Mapping[str, Any]] = {
            names.agreement: {"ftype": fo.FloatField},
            names.disputed: {"ftype": fo.BooleanField},
        }
        with writing(labels, run_key, "labels", settings, fields) as draft:
            _write_samples(labels, found, names, settings["quorum"])
            draft.figures, draft.diagnostics = figures_of(found, settings), diagnostics_of(found, settings)
            draft.arrays = pack_table(
                labels,
                agreement=found.disputes.agreement,
                item_all=found.majority.item_all,
                item_chosen=found.majority.item_chosen,
            )
        report(1.0, "Done")
    return Run(run_key, "labels", settings, labels.choice, draft.figures, labels.fields, draft.diagnostics, found)


def check_answers(labels: ImageLabels) -> None:
    """Agreement needs two raters, and an image that two of them labelled."""
    table = check_two_raters(labels.table)
    if not (np.bincount(table.item, minlength=1) >= 2).any():
        raise InputError("raters: expected an image that two raters labelled, got none")


def _write_samples(labels: ImageLabels, found: LabelFindings, names: RunNames, quorum: float) -> None:
    """Images that two raters did not answer for have neither value."""
    ids, agreement = labels.images.tolist(), plain(found.disputes.agreement)
    disputed = found.disputes.below(quorum).tolist()
    known = [flag if value is not None else None for flag, value in zip(disputed, agreement, strict=True)]
    dataset = every_sample(labels.view)
    dataset.set_values(names.agreement, dict(zip(ids, agreement, strict=True)), key_field="id")
    dataset.set_values(names.disputed, dict(zip(ids, known, strict=True)), key_field="id")
