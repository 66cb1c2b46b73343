"""Agreement on image-level labels on FiftyOne."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from kalos_core.fiftyone.dataset.database import add_index
from kalos_core.fiftyone.dataset.image_labels import read_image_labels
from kalos_core.fiftyone.dataset.selection import Selection
from kalos_core.fiftyone.kinds.image_labels.kind import (
    LABEL_AGREEMENT,
    LabelRun,
    dispute_arrays,
    find_all,
    label_details,
    label_metrics,
    sample_schema,
    sample_values,
)
from kalos_core.fiftyone.kinds.image_labels.settings import LabelRunArguments, LabelRunSettings
from kalos_core.fiftyone.kinds.labelled import table_arrays, write_columns
from kalos_core.fiftyone.runs.keys import RunNames
from kalos_core.fiftyone.runs.life import COMPARING, STORING, analysing, writing
from kalos_core.options import takes


@takes(LabelRunArguments)
def compute_label_agreement(samples: Any, run_key: str, settings: LabelRunArguments) -> LabelRun:
    """How far raters agree on image-level labels.

    The labels of ``reference`` are known truth: each rater's accuracy to it is computed, and nothing else reads it.

    Writes fields of samples: ``<key>_agreement``, the probability that two raters of the image answer a question
    alike, mean over the questions that two answered (None where there is none); ``<key>_disputed``, whether the image
    is in dispute; ``<key>_questions``, those on which its answers differ; ``<key>_concepts``, those that some chose and
    others did not; ``<key>_accuracy``, the share of labels that two raters gave alike, and ``<key>_to_reference``, the
    share given as the reference did (`kalos_core.item_accuracy`); ``<key>_majority``, the labels that most chose, with
    the share who did as their confidence (`Classification` where all labels exclude each other, else
    `Classifications`), and ``<key>_tied``, those of which that is open. With ``truth`` also ``<key>_truth``, the
    labels that are likeliest, given how skilled each rater is, with their probability as confidence (none where several
    are equally likely), and ``<key>_confidence``, that of the question on which the image is least sure.

    The answers in dispute (an image and a question whose leading answer has less than the quorum) are units in the
    queue of decisions: `next_dispute`, `disputed_units`, `decide` and `resolved` take the key of this run.

    Parameters
    ----------
    samples : fiftyone.core.collections.SampleCollection
    run_key : str
        Names everything the run writes.
    progress : bool or callable, optional

    Returns
    -------
    Run
        Its `result` is a `LabelFindings`; its `details` are described at `LabelDetails`.

    Raises
    ------
    InputError
        For input that cannot be used; nothing is stored then.

    Examples
    --------
    >>> import fiftyone as fo
    >>> dataset = fo.Dataset()
    >>> def image(number):
    ...     ann, bob = fo.Classification(label="cat"), fo.Classification(label="cat" if number else "dog")
    ...     return fo.Sample(f"{number}.jpg", raters=["ann", "bob"], ann=ann, bob=bob)
    >>> _ = dataset.add_samples([image(number) for number in range(4)], progress=False)
    >>> run = compute_label_agreement(dataset, "first", raters=("ann", "bob"))
    >>> run.metrics["disputed"], dataset.values("first_agreement")
    (1, [0.0, 1.0, 1.0, 1.0])
    >>> dataset.delete()
    """
    chosen, told = settings.part(Selection), settings.part(LabelRunSettings)
    with analysing(samples, run_key, settings.progress) as report:
        labels = read_image_labels(samples, chosen, told.groups, told.on_repeat)
        told = replace(told, groups=labels.groups)  # what was suggested
        found = find_all(
            labels.answers,
            labels.selection,
            told,
            lambda share, label: report(COMPARING + share * (STORING - COMPARING), label),
        )
        names = RunNames(run_key)
        report(STORING, "Writing agreement")
        with writing(LABEL_AGREEMENT, labels, run_key, told.record(), report, sample_schema(names, told)) as draft:
            write_columns(labels, sample_values(found, names, told), report.within(STORING, 1.0, "Writing"))
            add_index(labels.view, [names.agreement, "_id", names.disputes])
            draft.metrics, draft.details = label_metrics(found, told.quorum), label_details(found)
            draft.arrays = table_arrays(labels.answers) | dispute_arrays(found)
            draft.result = found
    return draft.run
