"""Summary of a data set in one line, and its annotations as a table."""

import numpy as np

from kalos_core import Annotations, overview


def mark(image, rater, category="cat", box=(0, 0, 9, 9), **more):
    return {"image": image, "rater": rater, "category": category, "box": list(box), **more}


def test_a_line_by_hand():
    #  image 1: ann, bob, cid assigned, 2 annotations; image 2: ann and bob, none; image 3: cid alone, 1
    rows = [mark(1, "ann"), mark(1, "bob", "dog"), mark(3, "cid")]
    annotations = Annotations.from_rows(
        rows, images=[1, 2, 3], raters=["ann", "bob", "cid"], categories=["cat", "dog", "owl"],
        assigned={1: ["ann", "bob", "cid"], 2: ["ann", "bob"], 3: ["cid"]})  # fmt: skip
    assert overview(annotations).to_dict("records") == [{
        "images": 3, "annotations": 3, "categories": 3, "annotated_categories": 2, "raters": 3, "raters_per_image": 2.0,
        "least_raters": 1, "most_raters": 3, "comparable_images": 2, "empty_images": 1, "annotations_per_image": 1.0,
        "shapes": "box",
    }]  # fmt: skip


def test_a_table_without_images():
    (row,) = overview(Annotations.from_rows([], raters=["ann"])).to_dict("records")
    assert (row["images"], row["annotations"], row["most_raters"], row["empty_images"]) == (0, 0, 0, 0)
    assert np.isnan([row["raters_per_image"], row["annotations_per_image"]]).all()


def test_a_row_an_annotation():
    people = {"raters": ["a1", "a2"], "person": ["ann", "ann"], "session": ["1", "2"]}
    rows = [mark(1, "a2", "dog", (1, 2, 3, 4), id="x"), mark(2, "a1", id="y")]
    frame = Annotations.from_rows(rows, **people, assigned="all").to_pandas()
    assert frame.to_dict("list") == {
        "id": ["x", "y"], "image": [1, 2], "file": ["1", "2"], "rater": ["a2", "a1"], "person": ["ann", "ann"],
        "session": ["2", "1"], "category": ["dog", "cat"], "x": [1, 0], "y": [2, 0], "width": [3, 9], "height": [4, 9],
    }  # fmt: skip
