"""How classifiers of images rank under each rater, on FiftyOne."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from kalos_core.errors import check_whole
from kalos_core.fiftyone.dataset.image_labels import read_image_labels
from kalos_core.fiftyone.dataset.selection import Selection
from kalos_core.fiftyone.kinds.labelled import majority_schema, majority_values, table_arrays, write_columns
from kalos_core.fiftyone.kinds.ranking.kind import (
    RANKING,
    RankingRun,
    RankingSettings,
    SystemRecord,
    rank,
    ranking_details,
    ranking_metrics,
)
from kalos_core.fiftyone.kinds.ranking.scores import Systems, name_systems, read_scores
from kalos_core.fiftyone.runs.keys import RunNames
from kalos_core.fiftyone.runs.life import COMPARING, STORING, analysing, writing
from kalos_core.fiftyone.runs.progress import Progress
from kalos_core.nominal import OnRepeat
from kalos_core.nominal.grouping import Groups, Teams, groups_record, teams_record
from kalos_core.nominal.questions import check_comparable
from kalos_core.ranking import SystemScores
from kalos_core.ranking.concepts import tree_record
from kalos_core.ranking.scores import check_unlisted
from kalos_core.ranking.systems import Missing

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from kalos_core.fiftyone.dataset.selection import SelectionArguments


def rank_systems(
    samples: Any,
    run_key: str,
    *,
    systems: Systems,
    groups: Groups = "label",
    teams: Teams = None,
    tree: Mapping[str, str | None] | None = None,
    decision: float = 0.5,
    unlisted: float | None = 0.0,
    missing: Missing = "raise",
    seed: int = 0,
    on_repeat: OnRepeat = "raise",
    progress: Progress | bool | None = None,
    **selection: Unpack[SelectionArguments],
) -> RankingRun:
    """How classifiers of images rank under each rater's truth and the majority's; see `kalos_core.rank_systems`.

    Writes two fields of samples, by which views find where a rater differs from the majority: ``<key>_majority``, the
    labels that most chose, and ``<key>_tied``, those of which that is open. A field of one label a sample gives scores
    by its `confidence`, or by its `logits`, of which the softmax counts; one of several labels by the confidence of
    each, or by logits, each of which counts by itself. The classes of logits are ``dataset.classes[field]``, else the
    data set's default classes.

    Parameters
    ----------
    samples, run_key, groups, on_repeat, progress, **selection
        As in `compute_label_agreement`.
    systems : list of fields, or mapping
        At least two: fields of `Classification` or `Classifications`; or names with a field each, or with scores as
        ``{image: {label: score}}``, images by sample id or file name.
    teams : mapping of names to rater names, optional
        Such as experts and a crowd: what most of a team chose is one truth more.
    tree : mapping of node to the node above it, optional
        Of all labels: adds the ontology score.
    decision : float
        For the ontology score, a classifier names the labels with at least this score.
    unlisted : float, optional
        The score of a label that a classifier does not name where it names others; None: it is missing.
    missing : "raise" or "skip"
        Images that a rater labelled and a classifier has no score for: an error, or left out for all.
    seed : int
        Of the random orders with which concordance is compared.

    Returns
    -------
    Run
        Its `result` is a `SystemRanking`; its `details` are described at `RankingDetails`.

    Raises
    ------
    InputError
        For input that cannot be used; nothing is stored then.

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
    chosen = Selection.of(selection)
    with analysing(samples, run_key, progress) as report:
        named = name_systems(systems)
        settings = RankingSettings(
            systems=[
                SystemRecord(system=name, field=source if isinstance(source, str) else None)
                for name, source in named.items()
            ],
            groups=groups_record(groups),
            teams=teams_record(teams),
            tree=tree_record(tree),
            decision=decision,
            unlisted=check_unlisted(unlisted),
            missing=missing,
            seed=check_whole(seed, "seed"),
            on_repeat=on_repeat,
        )
        labels = read_image_labels(samples, chosen, groups, on_repeat)
        settings["groups"] = groups_record(labels.groups)  # what was suggested
        table = check_comparable(labels.table)
        report(COMPARING, "Reading scores")
        images, concepts = labels.images.tolist(), table.concepts.tolist()
        tables = read_scores(labels.view, named, labels.fields)
        scores = SystemScores.from_tables(tables, settings["unlisted"], images, concepts)
        unknown = {name for table in tables.values() for row in table.values() for name in row}.difference(concepts)
        report((COMPARING + STORING) / 2, "Ranking classifiers under each rater")
        result = rank(table, scores, settings)
        details = ranking_details(result, settings["seed"])
        names = RunNames(run_key)
        report(STORING, "Storing the ranking")
        with writing(RANKING, labels, run_key, settings, majority_schema(names, labels.groups)) as draft:
            progress_of_writing = report.within(STORING, 1.0, "Writing")
            write_columns(labels, dict(majority_values(table, names, labels.groups)), progress_of_writing)
            draft.metrics, draft.details = ranking_metrics(result, len(unknown)), details
            draft.arrays = {**table_arrays(labels.answers), "scores": scores.values}
            draft.result = result
    return draft.run
