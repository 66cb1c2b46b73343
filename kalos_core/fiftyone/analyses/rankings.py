"""How systems that label whole images rank under each rater, on FiftyOne."""

from __future__ import annotations

from typing import Any

from kalos_core.errors import InputError, as_number, check_whole
from kalos_core.fiftyone.analyses.labels import check_answers
from kalos_core.fiftyone.analyses.steps import COMPARING, READING, WRITING
from kalos_core.fiftyone.image_labels import (
    Groups,
    Systems,
    Tree,
    groups_record,
    name_systems,
    pack_table,
    rank,
    ranking_diagnostics,
    ranking_figures,
    read_image_labels,
    read_scores,
    score_arrays,
    tree_record,
)
from kalos_core.fiftyone.labels import LabelChoice, check_samples
from kalos_core.fiftyone.progress import Progress, Report
from kalos_core.fiftyone.runs import Run, check_run_key, writing
from kalos_core.nominal import OnRepeat
from kalos_core.ranking.systems import Missing


def rank_systems(
    samples: Any,
    run_key: str,
    *,
    systems: Systems,
    groups: Groups = "label",
    tree: Tree | None = None,
    decision: float = 0.5,
    unlisted: float | None = 0.0,
    missing: Missing = "raise",
    seed: int = 0,
    on_repeat: OnRepeat = "raise",
    choice: LabelChoice | None = None,
    progress: Progress | bool | None = None,
    **options: Any,
) -> Run:
    """How systems that label whole images rank under each rater's truth and the majority's; see `rank_systems`.

    Writes nothing on samples or labels. A field of one label a sample gives scores by its `confidence`, or by its
    `logits`, of which the softmax counts; one of several labels by the confidence of each, or by logits, each of which
    counts by itself. The classes of logits are ``dataset.classes[field]``, else the data set's default classes.

    Parameters
    ----------
    samples, run_key, groups, on_repeat, choice, progress, **options
        As in `compute_label_agreement`.
    systems : list of fields, or mapping
        At least two: fields of `Classification` or `Classifications`; or names with a field each, or with scores as
        ``{image: {label: score}}``, images by sample id or file name.
    tree : mapping of node to the node above it, optional
        Of all labels: adds the ontology score.
    decision : float
        For the ontology score, a system names the labels with at least this score.
    unlisted : float, optional
        The score of a label that a system does not name where it names others; None: it is missing.
    missing : "raise" or "skip"
        Images that a rater labelled and a system has no score for: an error, or left out for all.
    seed : int
        Of the random orders with which concordance is compared.

    Returns
    -------
    Run
        Its `result` is a `SystemRanking`.

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
    >>> run.figures["truths"], run.result.auc[0, :, 0].tolist()
    (['ann', 'bob', 'majority'], [1.0, 0.5])
    >>> dataset.delete()
    """
    choice = LabelChoice.of(choice, options)
    with Report(progress) as report:
        check_samples(samples)
        check_run_key(samples, run_key)
        named = name_systems(systems)
        settings = {
            "systems": [
                {"system": name, "field": source if isinstance(source, str) else None} for name, source in named.items()
            ],
            "groups": groups_record(groups),
            "tree": tree_record(tree),
            "decision": decision,
            "unlisted": _check_unlisted(unlisted),
            "missing": missing,
            "seed": check_whole(seed, "seed"),
            "on_repeat": on_repeat,
        }
        report(READING, "Reading labels")
        labels = read_image_labels(samples, choice, groups, on_repeat)
        check_answers(labels)
        report(COMPARING, "Reading scores")
        concepts = labels.table.concepts.tolist()
        scores, unknown = read_scores(labels.view, named, concepts, labels.fields, settings["unlisted"])
        report((COMPARING + WRITING) / 2, "Ranking systems under each rater")
        result = rank(labels.table, scores, settings)
        diagnostics = ranking_diagnostics(result, settings["seed"])
        report(WRITING, "Storing the ranking")
        with writing(labels, run_key, "ranking", settings, {}) as draft:
            draft.figures, draft.diagnostics = ranking_figures(result, unknown), diagnostics
            draft.arrays = pack_table(labels, **score_arrays(scores))
        report(1.0, "Done")
    return Run(run_key, "ranking", settings, labels.choice, draft.figures, labels.fields, diagnostics, result)


def _check_unlisted(unlisted: object) -> float | None:
    number = as_number(unlisted)
    if unlisted is not None and (number is None or number != number):
        raise InputError(f"unlisted: expected a number or None, got {unlisted!r}")
    return number
