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
    """Compute the agreement of raters on image-level labels.

    The labels of ``reference`` are ground truth. They are used only for the accuracy of each rater.

    The run writes these sample fields:

    - ``<key>_agreement``: the probability that two raters of the image answer a question alike, averaged over the
      questions with at least two answers (None without such a question);
    - ``<key>_disputed``: whether the image is in dispute;
    - ``<key>_questions``: questions with different answers;
    - ``<key>_concepts``: concepts that some raters chose and others did not;
    - ``<key>_accuracy``: the share of labels on which two raters agree, and ``<key>_to_reference``: the share that
      matches the reference (`kalos_core.item_accuracy`);
    - ``<key>_majority``: the labels that most raters chose, with the share of raters as confidence; a
      `Classification` if all labels exclude each other, else `Classifications`;
    - ``<key>_tied``: labels without a majority;
    - with ``truth``: ``<key>_truth``, the likeliest labels given the skill of each rater, with their probability as
      confidence (none if several are equally likely);
    - with ``truth``: ``<key>_confidence``, the confidence of the least certain question of the image.

    An answer is in dispute if the leading answer to a question on an image has less than the quorum. Answers in
    dispute are units in the queue of decisions: `next_dispute`, `disputed_units`, `decide` and `resolved` take the key
    of this run.

    Parameters
    ----------
    samples : fiftyone.core.collections.SampleCollection
    run_key : str
        Key of the run, and prefix of all names that it writes.
    progress : bool or callable, optional

    Returns
    -------
    Run
        Its `result` is a `LabelFindings`; its `details` are a `LabelDetails`.

    Raises
    ------
    InputError
        If the input cannot be used; nothing is stored in this case.

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
        told = replace(told, groups=labels.groups)  # groups as suggested from the data
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
