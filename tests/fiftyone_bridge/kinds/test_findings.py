"""Stored results of a search for variations, and labels behind thresholds, outlines and parts."""

from collections import Counter
from itertools import pairwise
from typing import Any

import fiftyone as fo
import numpy as np
import pytest
from fiftyone import ViewField as F

import kalos_core.fiftyone as kf
from kalos_core import InputError, boundary_quality, variation_shares, variations
from kalos_core.fiftyone.kinds.agreement.sample import sample_report
from kalos_core.fiftyone.kinds.variations import views
from kalos_core.fiftyone.runs.records import Undefined
from kalos_core.variation import VARIATION_TYPES
from tests.fiftyone_bridge.scenes import (
    BENCH,
    COUNTS,
    LEFT_HALF,
    RATERS,
    RIGHT_HALF,
    THREE,
    crowded,
    detection,
    in_fields,
    make_sample,
    make_samples,
)
from tests.tiers import first


@pytest.fixture(scope="module")
def crowd(make_once):
    """Return overlapping annotations of three raters, with a run; only read."""
    dataset = make_once(make_samples(crowded(1, 20)))
    kf.find_variations(dataset, "found", raters=THREE, threshold=0.3, thresholds=[0.2, 0.6, 0.9])
    return dataset


@pytest.fixture(scope="module")
def result(crowd):
    return kf.load_run(crowd, "found").result


@pytest.fixture(scope="module")
def searched(make_once):
    """Return the six scenes with a run, for tests that only read."""
    dataset = make_once()
    kf.find_variations(dataset, "found", raters=RATERS)
    return dataset


@pytest.fixture
def dataset(searched):
    """Return a copy for tests that change labels."""
    return searched.clone()


MERGED = ("merged", "merged_wrong_class")


def labels_in(view: Any) -> list[str]:
    """Return the ids of all labels of a view."""
    paths = [f"{field}.detections.id" for field in view.get_field_schema(embedded_doc_type=fo.Detections)]
    return sorted(label for path in paths for labels in view.values(path) for label in labels or ())


def labels_of(found: Any, chosen: Any) -> list[str]:
    """Return the ids of the labels of some findings, from the core's result."""
    rows = {row for f in np.flatnonzero(chosen) for row in (*found.rows_a[f], *found.rows_b[f])}
    return sorted(found.annotations.id[row] for row in rows)


class TestDetails:
    def test_worked_by_hand(self, searched):
        stored = kf.load_details(searched, "found").details
        shares, boundary = stored.shares, stored.boundary
        own = shares.threshold.tolist().index(0.5)
        assert dict(zip(VARIATION_TYPES, shares.counts[own], strict=True)) == COUNTS
        assert len(shares.threshold) == 17
        # up to IoU .475, one half matches the bench and the other is additional; types in the order of VARIATION_TYPES
        for level, row in zip(shares.threshold, shares.counts.tolist(), strict=True):
            assert row == ([2, 0, 0, 1, 1, 1] if level < 0.475 else [1, 1, 0, 1, 1, 0])
        assert np.isnan(shares.equilibrium)
        assert shares.no_equilibrium == "matched findings are never outnumbered, up to threshold 0.9"
        assert (boundary.findings, boundary.identical, boundary.median) == (1, 1, 0.0)
        assert boundary.counts.tolist() == [1] + [0] * 19
        assert boundary.edges == pytest.approx(np.arange(21) / 40)
        assert stored.split_by == {"ann": 0, "bob": 1}

    def test_as_the_core_has_them(self, crowd):
        run = kf.load_run(crowd, "found")
        annotations, shares = run.result.annotations, run.details.shares
        levels = [0.2, 0.3, 0.6, 0.9]  # includes its own threshold, .3
        assert shares.threshold.tolist() == levels
        for level, row in zip(levels, shares.counts.tolist(), strict=True):
            counted = Counter(variations(annotations, threshold=level).type.tolist())
            assert row == [counted[name] for name in VARIATION_TYPES]
        assert shares.no_equilibrium == variation_shares(annotations, levels).no_equilibrium
        quality, boundary = boundary_quality(run.result), run.details.boundary
        assert (boundary.counts.tolist(), boundary.edges.tolist()) == (quality.counts.tolist(), quality.edges.tolist())
        distance = 1 - run.result.similarity[run.result.type == "correct"]
        assert (boundary.findings, boundary.identical) == (len(distance), (distance == 0).sum())
        assert boundary.median == quality.median == np.median(distance)

    def test_no_thresholds(self, make):
        run = kf.find_variations(make(), "found", raters=RATERS, thresholds=())
        assert run.details.shares == Undefined("thresholds: none were given for this run")
        assert run.details.boundary.findings == 1


class TestOutlines:
    def test_bins_share_out_the_correct_findings(self, crowd):
        run = kf.load_run(crowd, "found")
        found, edges = run.result, run.details.boundary.edges
        correct, counts = found.type == "correct", []
        for number, (low, high) in enumerate(pairwise(edges)):
            distance = 1 - found.similarity
            inside = correct & (distance >= low) & ((distance < high) | (number == len(edges) - 2))
            assert labels_in(views.view_of_boundary(crowd, "found", low, high)) == labels_of(found, inside)
            counts.append(int(inside.sum()))
        assert counts == run.details.boundary.counts.tolist()
        assert len([count for count in counts if count]) > 3

    def test_the_farthest_that_the_threshold_allows_is_in_the_last_bin(self, make):
        scene = {"ann": [("cat", [0, 0, 100, 100])], "bob": [("cat", [0, 0, 100, 50])]}
        dataset = make(make_samples([scene]))
        run = kf.find_variations(dataset, "found", raters=RATERS)
        edges = run.details.boundary.edges
        assert run.details.boundary.counts[-1] == 1
        assert len(labels_in(views.view_of_boundary(dataset, "found", *edges[-2:]))) == 2
        assert len(views.view_of_boundary(dataset, "found", *edges[-3:-1])) == 0

    def test_copies(self, searched, crowd, result):
        view = views.view_of_copies(searched, "found")
        assert view.values("id") == [searched.first().id]  # the one box with two classes is not a correct finding
        assert len(labels_in(view)) == 2
        identical = (result.type == "correct") & (result.similarity == 1)
        assert labels_in(views.view_of_copies(crowd, "found")) == labels_of(result, identical)


class TestParts:
    def test_worked_by_hand(self, searched):
        (found,) = views.merged_findings(searched, "found")
        assert (found.kind, found.parts, found.similarity) == ("merged", 2, 1.0)
        assert (found.sample_id, found.file) == (searched.skip(3).first().id, "3.jpg")
        assert (found.whole_rater, found.whole_category) == ("ann", "bench")
        assert (found.parts_rater, found.parts_category) == ("bob", "bench")
        view = views.view_of_merged(searched, "found", found.finding)
        assert [len(view.first()[rater].detections) for rater in RATERS] == [1, 2]
        assert labels_in(views.view_of_merged(searched, "found")) == labels_in(view)
        for number in (1, -1, 99):
            with pytest.raises(InputError, match=rf"expected the number of a merged finding .* got {number}"):
                views.view_of_merged(searched, "found", number)

    def test_of_many_findings(self, crowd, result):
        listed = views.merged_findings(crowd, "found")
        merged = np.flatnonzero(np.isin(result.type, MERGED))  # counted separately
        assert len(listed) == sum(result.counts()[name] for name in MERGED) > 3
        order = [(-row.parts, row.similarity) for row in listed]
        assert order == sorted(order)
        assert views.merged_findings(crowd, "found", 2) == listed[:2]
        names = result.annotations.raters
        assert sorted(row.finding for row in listed) == list(range(len(merged)))
        for row in listed:
            finding = merged[row.finding]
            sides = {
                names[result.rater_a[finding]]: result.rows_a[finding],
                names[result.rater_b[finding]]: result.rows_b[finding],
            }
            assert (len(sides[row.whole_rater]), len(sides[row.parts_rater])) == (1, row.parts)
            assert row.sample_id == result.annotations.images[result.image[finding]]
            view = views.view_of_merged(crowd, "found", row.finding)
            assert labels_in(view) == labels_of(result, np.arange(len(result)) == finding)

    def test_next_to_the_open_sample(self, dataset):
        kf.compute_agreement(dataset, "run", raters=RATERS, bootstrap=0)
        sample = dataset.skip(3).first()
        (merged,) = sample_report(dataset, sample.id, "run", "found").merged
        assert (merged.whole_rater, merged.parts_rater) == RATERS
        assert merged.whole.label_id == sample.ann.detections[0].id
        assert [part.label_id for part in merged.parts] == [label.id for label in sample.bob.detections]
        sample.bob.detections.pop()  # one-to-one matches are not merged
        sample.save()
        assert sample_report(dataset, sample.id, "run", "found").merged == ()
        dataset.delete_samples([sample.id])
        assert views.merged_findings(dataset, "found") == []


@pytest.mark.parametrize("rater", first(("bob", "cid", "ann"), 2))  # bob is on both sides of pairs
def test_findings_of_a_rater(crowd, result, rater):
    """Each type has the findings of `Variations.counts_by_rater`, with the labels of both sides."""
    code = result.annotations.raters.tolist().index(rater)
    annotated_a = np.array([len(rows) > 0 for rows in result.rows_a])
    alone = np.isin(result.type, ["missing", "additional"])
    mine = np.where(annotated_a, result.rater_a, result.rater_b) == code
    seen = np.where(alone, np.where(mine, "additional", "missing"), result.type)
    differences = [name for name in VARIATION_TYPES if name != "correct"]
    for kinds in (None, *([kind] for kind in VARIATION_TYPES)):
        chosen = is_towards(result, rater) & np.isin(seen, kinds or differences)
        assert chosen.sum() == sum(result.counts_by_rater()[rater][name] for name in kinds or differences)
        view = views.view_of_findings(crowd, "found", *([kinds] if kinds else []), rater=rater)
        assert labels_in(view) == labels_of(result, chosen)
        counts = Counter(result.annotations.images[result.image[chosen]].tolist())
        assert view.values("id") == sorted(counts, key=lambda sample: (-counts[sample], sample))  # most findings first
    table = result.annotations
    codes, dog = table.category, table.categories.tolist().index("dog")
    dogs = [any(codes[row] == dog for row in (*a, *b)) for a, b in zip(result.rows_a, result.rows_b, strict=True)]
    chosen = is_towards(result, rater) & (seen != "correct") & dogs
    assert labels_in(views.view_of_findings(crowd, "found", rater=rater, category="dog")) == labels_of(result, chosen)


@pytest.mark.parametrize("shared", [False, True])
def test_who_merged_is_on_the_labels_and_in_views(make: Any, shared: bool) -> None:
    """ann and cid annotate two halves where bob annotates one bench; only cid has a cat."""
    whole = {"bob": [detection("bench", BENCH)]}
    halves = {name: [detection("bench", half) for half in (LEFT_HALF, RIGHT_HALF)] for name in ("ann", "cid")}
    halves["cid"].append(detection("cat", [0, 60, 20, 20]))
    given = {**halves, **whole}
    if shared:
        every = [
            detection(label.label, [100 * side for side in label.bounding_box], rater=name)
            for name in THREE
            for label in given[name]
        ]
        dataset = make([make_sample(0, {}, raters=list(THREE), labels=fo.Detections(detections=every))])
        kf.find_variations(dataset, "found", raters=THREE, field="labels", rater_attribute="rater")
        fields = ["labels"]
    else:
        dataset = make([in_fields(0, {name: given[name] for name in THREE})])
        kf.find_variations(dataset, "found", raters=THREE)
        fields = list(THREE)
    labels = [label for field in fields for label in dataset.first()[field].detections]
    owner = dict(zip([label.id for label in labels], [name for name in THREE for _ in given[name]], strict=True))
    benches = {label.id for label in labels if label.label == "bench"}
    assert {tuple(label["found_merged_by"] or ()) for label in labels if label.id in benches} == {("bob",)}
    (cat,) = [label for label in labels if label.label == "cat"]
    assert (cat["found_missed_by"], cat["found_merged_by"]) == (["ann", "bob"], None)

    def seen(rater: str, kind: str) -> set[str]:
        view = views.view_of_findings(dataset, "found", [kind], rater=rater)
        return {key for field in fields for ids in view.values(f"{field}.detections.id") for key in ids or ()}

    assert seen("bob", "merges") == benches
    assert seen("bob", "splits") == seen("ann", "merges") == set()
    assert seen("ann", "splits") == {key for key in benches if owner[key] in ("ann", "bob")}
    missed = dataset.filter_labels(fields[-1] if not shared else "labels", F("found_missed_by").contains("ann"))
    assert [label.id for label in missed.first()[fields[-1]].detections] == [cat.id]
    with pytest.raises(InputError, match="expected one of merges, splits alone"):
        views.view_of_findings(dataset, "found", ["merges", "missing"], rater="bob")


def is_towards(found: Any, rater: str) -> Any:
    code = found.annotations.raters.tolist().index(rater)
    return (found.rater_a == code) | (found.rater_b == code)
