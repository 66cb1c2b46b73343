"""Joining tables, and tables as arrays."""

from dataclasses import replace

from kalos_core import Annotations
from kalos_core.annotations.joining import from_arrays, join, to_arrays


def test_crowd_regions_are_joined_and_stored():
    def one(image, category):
        rows = [
            {"image": image, "rater": "ann", "category": category, "box": [0, 0, 9, 9], "id": f"{image}{number}"}
            for number in (1, 2)
        ]
        table = Annotations.from_rows(rows, raters=["ann", "bob"], assigned="all")
        return replace(table.select(rows=[0]), crowd_regions=table.select(rows=[1]))

    both = join([one("a", "dog"), replace(one("b", "emu"), crowd_regions=None), one("c", "cat")])
    for table in (both, from_arrays(to_arrays(both))):
        crowds = table.crowd_regions
        assert crowds.images[crowds.image].tolist() == ["a", "c"]
        assert crowds.categories[crowds.category].tolist() == ["dog", "cat"]
        assert crowds.id.tolist() == ["a2", "c2"]
    assert from_arrays(to_arrays(replace(both, crowd_regions=None))).crowd_regions is None
