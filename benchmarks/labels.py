"""Image-level labels: alpha vs. `krippendorff`, Dawid-Skene vs. crowd-kit; coefficients of many categories.

Includes Dawid-Skene of objects, which is the same estimation.
"""

from __future__ import annotations

import importlib.util
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks import shards
from benchmarks.tables import Measured, Row, Table
from benchmarks.timing import Subject, alternate, peak_memory
from kalos_core import (
    NOT_ASSIGNED,
    agreement,
    compare_teams,
    dawid_skene,
    fleiss_kappa,
    grade_agreement,
    majority_vote,
    nominal_alpha,
    read_long_labels,
    removal_experiment,
    sparse_agreement,
    unit_truth,
)
from kalos_core.nominal import METRICS, SKILL_MODELS, LabelTable, alpha_of_counts, free_marginal_kappa

ITEMS = 100_000
RATERS = 5
CATEGORIES, MANY_CATEGORIES = 80, 1203

AT_LEAST = {2: 5.0, 5: 7.0, CATEGORIES: 500.0}
"""Claimed speedup over `krippendorff` by number of categories, which it counts one by one."""

SAME, SAME_PROBABILITY = 1e-9, 1e-6

GRADES, MOST_SLOWER, MOST_GRADING = 5, 5.0, 20.0
"""Grades in `grades`; maximum factor of another alpha over nominal; maximum seconds for all in one result."""

MOST_SECONDS, MOST_MEMORY = 0.2, 200e6
"""Maximum time and memory of a coefficient of `MANY_CATEGORIES`, beyond its input."""

ANSWERS = 1_000_000

MOST_READING, MOST_READ_MEMORY, MOST_COMPARING, MOST_REMOVING = 3.0, 400e6, 10.0, 30.0
"""Maximum seconds and bytes for reading `ANSWERS`, comparing teams on `MANY_CATEGORIES`, and removal."""

MOST_ESTIMATING = 10.0
"""Maximum seconds of Dawid-Skene of `ANSWERS`, of `CROWD` raters or on objects."""

IMAGES = 48_300
"""Number of images with objects for about `ANSWERS`."""

CROWD, CLASSES, STEPS = 1000, 10, 10

OF_COUNTS: dict[str, Callable[[Any], Any]] = {
    "sparse agreement, no bootstrap": lambda counts: sparse_agreement(counts, bootstrap=0),
    "sparse agreement, 1,000 replicates": sparse_agreement,
    "alpha": alpha_of_counts,
    "Fleiss": fleiss_kappa,
    "free-marginal": free_marginal_kappa,
    "majority": majority_vote,
}


def values(items: int, categories: int, seed: int = 0) -> np.ndarray:
    """Return (I, R) labels of raters who give the true label in seven of ten cases."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, categories, (items, 1))
    guesses = rng.integers(0, categories, (items, RATERS))
    return np.where(rng.random((items, RATERS)) < 0.7, truth, guesses)


def against_krippendorff(repeats: int, items: int = ITEMS) -> Table:
    """Measure nominal alpha of the same values, both in one process."""
    import krippendorff

    def theirs(turned: np.ndarray) -> float:
        return float(krippendorff.alpha(reliability_data=turned, level_of_measurement="nominal"))

    rows, notes = [], []
    for categories, claim in AT_LEAST.items():
        labels = values(items, categories)
        turned = np.ascontiguousarray(labels.T)
        ours, peer = alternate(
            [Subject(nominal_alpha, lambda labels=labels: labels), Subject(theirs, lambda turned=turned: turned)],
            repeats,
        )
        difference = abs(ours.answer - peer.answer)
        verdict = "same alpha" if difference <= SAME else "NOT THE SAME WORK: other alpha"
        rows.append(
            Row(f"{categories} categories", ours.took, peer.took, claim, f"nominal alpha, {categories} categories")
        )
        notes.append(f"{verdict} of {categories} categories ({ours.answer:.6f}), difference {difference:.1e}")
    title = f"nominal alpha of values, {items:,} items x {RATERS} raters"
    return Table(title, tuple(rows), other="krippendorff", notes=tuple(notes))


def grades(repeats: int, items: int = ITEMS) -> list[Table]:
    """Measure alpha of grades for every metric, vs. `krippendorff` and vs. nominal, and grades in one result."""
    import krippendorff

    given = 1 + np.clip(
        values(items, GRADES) + np.random.default_rng(1).integers(-1, 2, (items, RATERS)), 0, GRADES - 1
    )
    turned = np.ascontiguousarray(given.T)
    beside, against, notes = [], [], []
    for metric in METRICS:

        def theirs(turned: np.ndarray, metric: str = metric) -> float:
            return float(krippendorff.alpha(reliability_data=turned, level_of_measurement=metric))

        work = partial(nominal_alpha, metric=metric)
        nominal, ours, peer = alternate(
            [Subject(nominal_alpha, lambda: given), Subject(work, lambda: given), Subject(theirs, lambda: turned)],
            repeats,
        )
        beside.append(Row(f"{metric}, vs. krippendorff", ours.took, peer.took, 1.0))
        difference = abs(ours.answer - peer.answer)
        verdict = "same alpha" if difference <= SAME else "NOT THE SAME WORK: other alpha"
        notes.append(f"{verdict}, {metric} ({ours.answer:.6f}), difference {difference:.1e}")
        if metric != "nominal":
            against.append(Row(f"{metric} alpha", ours.took, nominal.took, MOST_SLOWER))
    (found,) = alternate([Subject(grade_agreement, lambda: given)], repeats, warm_up=False)
    what = f"{items:,} items x {RATERS} raters, {GRADES} grades"
    took = (Row("alpha, AC2 and Conger's kappa, 1,000 replicates", found.took, Measured((MOST_GRADING,)), 1.0),)
    return [
        Table(f"alpha of grades, {what}", tuple(beside), other="krippendorff", notes=tuple(notes)),
        Table(f"alpha of grades vs. nominal alpha, {what}", tuple(against), other="nominal", speedup=False),
        Table(f"agreement on grades in one result, {what}", took, "measured", "limit", speedup=False),
    ]


def label_tables(
    repeats: int, items: int = ITEMS, answers: int = ANSWERS, concepts: int = MANY_CATEGORIES
) -> list[Table]:
    """Measure reading many answers, comparing two teams on many concepts, and removing annotations."""
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "labels.csv"
        item = np.repeat(np.arange(-(-answers // RATERS)), RATERS)[:answers]
        label = np.where(rng.random(answers) < 0.7, item % CATEGORIES, rng.integers(0, CATEGORIES, answers))
        lines = (
            f"image_{i:06d}.jpg,rater {k % RATERS},class {c}" for k, (i, c) in enumerate(zip(item, label, strict=True))
        )
        path.write_text("item,rater,label\n" + "\n".join(lines), encoding="utf-8")
        (read,) = alternate([Subject(lambda _: read_long_labels(path))], repeats)
        memory = peak_memory(Subject(lambda _: read_long_labels(path)))
    table = several_concepts(items, concepts, rng)
    names = table.raters.tolist()
    teams = {"experts": names[:3], "others": names[3:]}
    (compared,) = alternate([Subject(lambda _: compare_teams(table, teams))], repeats, warm_up=False)
    counts = np.zeros((items, CATEGORIES), np.int64)
    np.add.at(counts, (np.repeat(np.arange(items), RATERS), values(items, CATEGORIES).ravel()), 1)
    (removed,) = alternate([Subject(lambda _: removal_experiment(counts))], repeats, warm_up=False)
    times = (
        (f"read {answers:,} answers from CSV", read, MOST_READING),
        (f"compare two teams, {concepts:,} concepts x {items:,} items, 1,000 replicates", compared, MOST_COMPARING),
        (f"remove annotations, {items:,} items x {RATERS} raters, 200 rounds", removed, MOST_REMOVING),
    )
    rows = [Row(what, outcome.took, Measured((most,)), 1.0) for what, outcome, most in times]
    return [
        Table("tables of labels: time", tuple(rows), "measured", "limit", speedup=False),
        Table(
            "tables of labels: memory",
            (Row(f"read {answers:,} answers from CSV", memory, Measured((MOST_READ_MEMORY,), "B"), 1.0),),
            "measured",
            "limit",
            speedup=False,
        ),
    ]


def several_concepts(items: int, concepts: int, rng: np.random.Generator) -> LabelTable:
    """Return five raters who choose up to three of many optional concepts, the same ones in seven of ten cases."""
    answers = items * RATERS
    truth = np.repeat(rng.integers(0, concepts, (items, 3)), RATERS, axis=0)
    concept = np.where(rng.random((answers, 3)) < 0.7, truth, rng.integers(0, concepts, (answers, 3)))
    answer, concept = np.divmod(np.unique(np.arange(answers)[:, None] * concepts + concept), concepts)
    return LabelTable(
        item=np.repeat(np.arange(items), RATERS),
        rater=np.tile(np.arange(RATERS), items),
        answer=answer,
        concept=concept,
        items=np.arange(items).astype(object),
        raters=np.array([f"rater {number}" for number in range(RATERS)], object),
        concepts=np.array([f"concept {number}" for number in range(concepts)], object),
    )


def many_categories(repeats: int, items: int = ITEMS) -> list[Table]:
    """Measure time and memory of every coefficient of counts, dense and sparse."""
    labels = values(items, MANY_CATEGORIES)
    dense = np.zeros((items, MANY_CATEGORIES), np.int64)
    np.add.at(dense, (np.repeat(np.arange(items), RATERS), labels.ravel()), 1)
    times, memory = [], []
    for kind, counts in (("dense", dense), ("sparse", sparse.csr_array(dense))):
        for name, work in OF_COUNTS.items():
            subject = Subject(work, lambda counts=counts: counts)
            (outcome,) = alternate([subject], repeats)
            times.append(Row(f"{name}, {kind}", outcome.took, Measured((MOST_SECONDS,)), 1.0))
            memory.append(Row(f"{name}, {kind}", peak_memory(subject), Measured((MOST_MEMORY,), "B"), 1.0))
    what = f"{items:,} items x {MANY_CATEGORIES:,} categories"
    return [
        Table(f"coefficients of counts, {what}: time", tuple(times), "measured", "limit", speedup=False),
        Table(f"coefficients of counts, {what}: memory", tuple(memory), "measured", "limit", speedup=False),
    ]


def crowd(answers: int, raters: int, each: int) -> LabelTable:
    """Return answers of raters who are right in 40 to 90 of 100 cases, `each` per item, with `CLASSES` classes."""
    rng = np.random.default_rng(0)
    item = np.repeat(np.arange(answers // each), each)
    first = rng.integers(0, raters, answers // each)
    rater = (first[:, None] + rng.permutation(raters)[:each]).ravel() % raters  # no rater twice
    truth, skill = rng.integers(0, CLASSES, answers // each), rng.uniform(0.4, 0.9, raters)
    right = rng.random(len(item)) < skill[rater]
    return LabelTable(
        item=item,
        rater=rater,
        answer=np.arange(len(item)),
        concept=np.where(right, truth[item], rng.integers(0, CLASSES, len(item))),
        items=np.arange(answers // each).astype(object),
        raters=np.array([f"rater {number}" for number in range(raters)], object),
        concepts=np.array([f"class {number}" for number in range(CLASSES)], object),
        groups=np.array(["class"], object),
        group_of=np.zeros(CLASSES, np.intp),
    )


def dawid_skene_of_a_crowd(repeats: int, answers: int = ANSWERS, raters: int = CROWD) -> list[Table]:
    """Measure until convergence vs. the limit, and a fixed number of steps from the same start vs. crowd-kit."""
    rows = []
    for each in (10, 5):
        table = crowd(answers, raters, each)
        (outcome,) = alternate([Subject(lambda _, table=table: dawid_skene(table))], repeats, warm_up=False)
        end = f"{outcome.answer.iterations} steps" if outcome.answer.converged else "not settled"
        what = f"{answers:,} answers, {each} per item, until convergence ({end})"
        rows.append(Row(what, outcome.took, Measured((MOST_ESTIMATING,)), 1.0))
    title = f"Dawid-Skene, {raters:,} raters, {CLASSES} classes"
    tables = [Table(f"{title}: time", tuple(rows), "measured", "limit", speedup=False)]
    if importlib.util.find_spec("crowdkit") is None:
        return tables
    from crowdkit.aggregation import DawidSkene

    table = crowd(answers, raters, 5)
    frame = table.to_pandas().rename(columns={"item": "task", "rater": "worker"})[["task", "worker", "label"]]
    ours, peer = alternate(
        [
            Subject(lambda _: dawid_skene(table, added=0, iterations=STEPS)),
            Subject(lambda _: DawidSkene(n_iter=STEPS, tol=0).fit(frame)),
        ],
        repeats,
    )
    theirs = peer.answer.probas_.loc[table.items, table.concepts].to_numpy(dtype=float)
    difference = float(np.abs(ours.answer.probability - theirs).max())
    verdict = "same probabilities" if difference <= SAME_PROBABILITY else "NOT THE SAME WORK: other probabilities"
    row = Row(f"{answers:,} answers, 5 per item, {STEPS} steps", ours.took, peer.took, 1.0, "Dawid-Skene, ten steps")
    return [*tables, Table(title, (row,), other="crowd-kit", notes=(f"{verdict}, difference {difference:.1e}",))]


def skill_on_objects(repeats: int, images: int = IMAGES) -> Table:
    """Measure the models of whether each unit is an object, and its class; matching is not measured."""
    matched = agreement(shards.table(0, images, np.random.default_rng(0)), bootstrap=0)
    answers = int((matched.units.values != NOT_ASSIGNED).sum())
    rows = []
    for model in SKILL_MODELS:
        subject = Subject(lambda _, model=model: unit_truth(matched, model=model))
        (outcome,) = alternate([subject], repeats, warm_up=False)
        found = outcome.answer.estimate
        end = (f"{found.iterations} steps" if found.iterations else "one step") if found.converged else "not settled"
        rows.append(Row(f"{model} ({end})", outcome.took, Measured((MOST_ESTIMATING,)), 1.0))
    title = (
        f"who is right about objects, {answers:,} answers to {len(matched.units):,} units, {shards.RATERS} raters, "
        f"{shards.CLASSES} classes: time"
    )
    return Table(title, tuple(rows), "measured", "limit", speedup=False)
