"""Ranking of image classifiers under each rater, on FiftyOne."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from kalos_core.fiftyone.dataset.image_labels import read_image_labels
from kalos_core.fiftyone.dataset.selection import Selection
from kalos_core.fiftyone.kinds.labelled import majority_schema, majority_values, table_arrays, write_columns
from kalos_core.fiftyone.kinds.ranking.kind import RANKING, RankingRun, rank, ranking_details, ranking_metrics
from kalos_core.fiftyone.kinds.ranking.scores import read_scores
from kalos_core.fiftyone.kinds.ranking.settings import RankingRunArguments, RankingRunSettings
from kalos_core.fiftyone.runs.keys import RunNames
from kalos_core.fiftyone.runs.life import COMPARING, STORING, analysing, writing
from kalos_core.nominal.questions import check_comparable
from kalos_core.options import takes
from kalos_core.ranking import SystemScores


@takes(RankingRunArguments)
def rank_systems(samples: Any, run_key: str, settings: RankingRunArguments) -> RankingRun:
    """Rank image classifiers under the labels of each rater and of the majority; see `kalos_core.rank_systems`.

    The run writes two sample fields, from which views find where a rater differs from the majority:
    ``<key>_majority``, the labels that most raters chose, and ``<key>_tied``, the labels without a majority.

    A field with one label per sample gives scores by its `confidence`, or by the softmax of its `logits`. A field with
    several labels gives scores by the confidence of each label, or by the sigmoid of each logit. The classes of logits
    are ``dataset.classes[field]``, else the data set's default classes.

    Parameters
    ----------
    samples, run_key, progress
        As in `compute_label_agreement`. The majority of each team is an additional reference. The seed also applies to
        the random orders with which concordance is compared.

    Returns
    -------
    Run
        Its `result` is a `SystemRanking`; its `details` are a `RankingDetails`.

    Raises
    ------
    InputError
        If the input cannot be used; nothing is stored in this case.

    Examples
    --------
    >>> import fiftyone as fo
    >>> dataset = fo.Dataset()
    >>> def label(name, **sure):
    ...     return fo.Classification(label=name, **sure)
    >>> rows = [("cat", "cat", 0.9, 0.2), ("cat", "dog", 0.8, 0.9), ("dog", "dog", 0.1, 0.4)]
    >>> _ = dataset.add_samples(
    ...     [
    ...         fo.Sample(
    ...             f"{n}.jpg",
    ...             raters=["ann", "bob"],
    ...             ann=label(a),
    ...             bob=label(b),
    ...             net=label("cat", confidence=x),
    ...             svm=label("cat", confidence=y),
    ...         )
    ...         for n, (a, b, x, y) in enumerate(rows)
    ...     ],
    ...     progress=False,
    ... )
    >>> run = rank_systems(dataset, "ranked", systems=["net", "svm"], raters=("ann", "bob"))
    >>> run.metrics["truths"], run.result.auc[0, :, 0].tolist()
    (['ann', 'bob', 'majority'], [1.0, 0.5])
    >>> dataset.delete()
    """
    chosen, told = settings.part(Selection), settings.part(RankingRunSettings)
    with analysing(samples, run_key, settings.progress) as report:
        labels = read_image_labels(samples, chosen, told.groups, told.on_repeat)
        told = replace(told, groups=labels.groups)  # groups as suggested from the data
        table = check_comparable(labels.table)
        report(COMPARING, "Reading scores")
        images, concepts = labels.images.tolist(), table.concepts.tolist()
        tables = read_scores(labels.view, told.systems, labels.fields)
        scores = SystemScores.from_tables(tables, told.unlisted, images, concepts)
        unknown = {name for table in tables.values() for row in table.values() for name in row}.difference(concepts)
        report((COMPARING + STORING) / 2, "Ranking classifiers under each rater")
        result = rank(table, scores, told)
        details = ranking_details(result, told.seed)
        names = RunNames(run_key)
        report(STORING, "Storing the ranking")
        stored = {name: source if isinstance(source, str) else {} for name, source in told.systems.items()}
        record = told.record() | {"systems": stored}  # given scores are stored in the arrays
        with writing(RANKING, labels, run_key, record, report, majority_schema(names, labels.groups)) as draft:
            progress_of_writing = report.within(STORING, 1.0, "Writing")
            write_columns(labels, dict(majority_values(table, names, labels.groups)), progress_of_writing)
            draft.metrics, draft.details = ranking_metrics(result, len(unknown)), details
            draft.arrays = {**table_arrays(labels.answers), "scores": scores.values}
            draft.result = result
    return draft.run
