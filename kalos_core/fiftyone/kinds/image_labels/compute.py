"""Agreement on image-level labels on FiftyOne."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from kalos_core.errors import check_whole, lookup
from kalos_core.fiftyone.dataset.image_labels import read_image_labels
from kalos_core.fiftyone.dataset.selection import Selection
from kalos_core.fiftyone.kinds.image_labels.kind import (
    LABEL_AGREEMENT,
    LabelRun,
    LabelSettings,
    check_width,
    dispute_arrays,
    find_all,
    label_details,
    label_metrics,
    sample_schema,
    sample_values,
)
from kalos_core.fiftyone.kinds.labelled import table_arrays, write_columns
from kalos_core.fiftyone.runs.keys import RunNames
from kalos_core.fiftyone.runs.life import COMPARING, STORING, analysing, writing
from kalos_core.fiftyone.runs.progress import Progress
from kalos_core.nominal import QUORUM, SKILL_MODELS, OnRepeat, check_quorum
from kalos_core.nominal.grouping import Groups, Teams, groups_record, teams_record
from kalos_core.nominal.levels import Metric, Order, metric_record, order_record
from kalos_core.sparse import WEIGHTS

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from kalos_core.fiftyone.dataset.selection import SelectionArguments


def compute_label_agreement(
    samples: Any,
    run_key: str,
    *,
    groups: Groups = "label",
    teams: Teams = None,
    reject_broken: bool = False,
    most_breaches: float | None = None,
    least_accuracy: float | None = None,
    weights: str = "annotations_m1",
    metric: Metric = "nominal",
    order: Order | None = None,
    truth: str | None = None,
    bootstrap: int = 1000,
    seed: int = 0,
    quorum: float = QUORUM,
    width: float = 0.1,
    on_repeat: OnRepeat = "raise",
    progress: Progress | bool | None = None,
    **selection: Unpack[SelectionArguments],
) -> LabelRun:
    """How far raters agree on image-level labels.

    Writes fields of samples: ``<key>_agreement``, the probability that two raters of the image answer a question
    alike, mean over the questions that two answered (None where there is none); ``<key>_disputed``, whether the image
    is in dispute; ``<key>_questions``, those on which its answers differ; ``<key>_concepts``, those that some chose and
    others did not; ``<key>_accuracy``, the share of labels that two raters gave alike, and ``<key>_to_reference``, the
    share given as the reference did (`kalos_core.item_accuracy`); ``<key>_majority``, the labels that most chose, with
    the share who did as their confidence (`Classification` where all labels exclude each other, else
    `Classifications`), and ``<key>_tied``, those of which that is open. With ``truth`` also ``<key>_truth``, the
    labels that are likeliest, given how skilled each rater is, with their probability as confidence (none where several
    are equally likely), and ``<key>_confidence``, that of the question on which the image is least sure.

    Parameters
    ----------
    samples : fiftyone.core.collections.SampleCollection
    run_key : str
        Names everything the run writes.
    groups, on_repeat, **selection
        As in `read_label_table`. The labels of ``reference`` are known truth: each rater's accuracy to it is computed,
        and nothing else reads it.
    teams : mapping of two names to rater names, optional
        Such as experts and a crowd, which are compared (`kalos_core.compare_teams`).
    reject_broken, most_breaches, least_accuracy
        Which answers are rejected before anything is computed, as in `kalos_core.reject_answers` (where the first is
        ``broken``); none unless given.
    weights : name in `kalos_core.sparse.WEIGHTS`
        Of images in the sparse probability of agreement.
    metric, order
        Of alpha, where groups of labels are grades, as in `kalos_core.label_agreement`.
    truth : name in `kalos_core.nominal.SKILL_MODELS`, optional
        Estimate who is right, and how sure: the class of each image, and the skill and habits of each rater
        (`kalos_core.dawid_skene`, which says what that assumes).
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
    chosen = Selection.of(selection)
    with analysing(samples, run_key, progress) as report:
        lookup(WEIGHTS, weights, "weights")
        if truth is not None:
            lookup(SKILL_MODELS, truth, "truth")
        settings = LabelSettings(
            groups=groups_record(groups),
            teams=teams_record(teams),
            reject_broken=reject_broken,
            most_breaches=most_breaches,
            least_accuracy=least_accuracy,
            weights=weights,
            metric=metric_record(metric),
            order=order_record(order),
            truth=truth,
            bootstrap=check_whole(bootstrap, "bootstrap"),
            seed=check_whole(seed, "seed"),
            quorum=check_quorum(quorum),
            width=check_width(width),
            on_repeat=on_repeat,
        )
        labels = read_image_labels(samples, chosen, groups, on_repeat)
        settings["groups"] = groups_record(labels.groups)  # what was suggested
        found = find_all(
            labels.answers,
            labels.selection,
            settings,
            lambda share, label: report(COMPARING + share * (STORING - COMPARING), label),
        )
        names = RunNames(run_key)
        report(STORING, "Writing agreement")
        with writing(LABEL_AGREEMENT, labels, run_key, settings, sample_schema(names, settings)) as draft:
            write_columns(labels, sample_values(found, names, settings), report.within(STORING, 1.0, "Writing"))
            draft.metrics, draft.details = label_metrics(found, settings["quorum"]), label_details(found)
            draft.arrays = table_arrays(labels.answers) | dispute_arrays(found)
            draft.result = found
    return draft.run


def compare_teams(
    samples: Any,
    run_key: str,
    first: Sequence[str],
    second: Sequence[str],
    *,
    names: Sequence[str] = ("first", "second"),
    **arguments: Any,
) -> LabelRun:
    """How two teams of raters, such as experts and a crowd, agree within, between, and by their majorities.

    A run of `compute_label_agreement`, with ``teams``; what its `details.teams` holds is described at
    `kalos_core.nominal.TeamComparison`.

    Parameters
    ----------
    samples, run_key, **arguments
        As in `compute_label_agreement`. ``raters``: of both teams, unless labels name their rater in an attribute.
    first, second : sequence of str
        Rater names.
    names : two of str
        What the teams are called.

    Examples
    --------
    >>> import fiftyone as fo
    >>> dataset = fo.Dataset()
    >>> raters = ["ann", "bob", "cid", "dan"]
    >>> def image(number):
    ...     labels = {name: fo.Classification(label="cat" if number or name != "dan" else "dog") for name in raters}
    ...     return fo.Sample(f"{number}.jpg", raters=raters, **labels)
    >>> _ = dataset.add_samples([image(number) for number in range(4)], progress=False)
    >>> run = compare_teams(dataset, "first", raters[:2], raters[2:], names=("experts", "crowd"))
    >>> run.details.teams.agreement[0, :2].tolist()
    [1.0, 0.75]
    >>> dataset.delete()
    """
    if arguments.get("field") is None:
        arguments.setdefault("raters", [*first, *second])
    teams = dict(zip(names, (first, second), strict=True))
    return compute_label_agreement(samples, run_key, teams=teams, **arguments)
