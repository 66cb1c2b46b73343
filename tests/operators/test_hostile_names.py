"""Names from data in what operators answer: Markdown that shows them as text, for every kind of run."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import fiftyone as fo
import pytest

import kalos_core.fiftyone as kf
from kalos_core import InputError
from kalos_core.fiftyone.dataset.raters import store_raters
from operators.base import problem
from operators.load_raters import summary
from tests.fiftyone_bridge.stacks import add_maps
from tests.fiftyone_bridge.test_kinds import MADE_OF_RUNS
from tests.operators.calls import coco, run
from tests.operators.test_same_as_functions import MASKS, REQUIRED, SAMPLES
from tests.test_text import MARKDOWN, in_markdown

RATERS = {"ann": "*d* <i>\u202ea</i>", "bob": "$x|y", "cid": "`c` [l](http://a.b)"}
"""Field -> the rater it is of."""

CLASSES = {"cat": "<b>**x**</b>|\u202e", "dog": "_y_ ~~d~~\n# a", "owl": "1. <img src=x onerror=alert(1)>"}
"""Class -> what it is called instead."""

OWN_TAGS = {"p", "strong", "em", "ul", "li", "code", "table", "thead", "tbody", "tr", "th", "td"}
"""What summaries and panels themselves are made of."""

pytestmark = pytest.mark.filterwarnings("ignore::kalos_core.errors.KalosWarning")


def renamed(value: Any) -> Any:
    """Labels under their other names."""
    for labels in (getattr(value, "detections", None) or [], getattr(value, "classifications", None) or [], [value]):
        for label in labels:
            if getattr(label, "label", None) in CLASSES:
                label.label = CLASSES[label.label]
    return value


def is_text(written: str) -> None:
    read = in_markdown(written)
    assert set(read.tags) <= OWN_TAGS, (written, read.tags)
    assert "\u202e" not in read.text
    assert not {"d", "x", "y"} & set(re.findall(r"<(?:em|strong|del)>(.*?)</", MARKDOWN.convert(written)))


def hostile(samples: list[fo.Sample]) -> fo.Dataset:
    """Samples of three raters, who and the classes of which have other names."""
    made = fo.Dataset(persistent=True)
    for sample in samples:
        for name in sample.field_names:
            renamed(sample[name])
    made.add_samples(samples, progress=False)
    store_raters(made, {name: field for field, name in RATERS.items()})
    if any(sample.has_field("raters") for sample in samples):
        for sample in made:
            sample["raters"] = [RATERS[name] for name in sample["raters"] or []]
            sample.save()
    return made


@pytest.fixture
def dataset(kind: str) -> Iterator[fo.Dataset]:
    made = hostile(SAMPLES[kind]())
    if kind in MASKS:
        add_maps(made)
    yield made
    for key in kf.list_runs(made):
        kf.delete_run(made, key)


@pytest.mark.parametrize("kind", [name for name in kf.KINDS if name not in MADE_OF_RUNS])
def test_a_summary_shows_names_as_text(dataset: fo.Dataset, kind: str) -> None:
    required = {
        name: RATERS.get(value, value) if isinstance(value, str) else value
        for name, value in REQUIRED.get(kind, {}).items()
    }
    answer = run(kf.KINDS[kind].operator, dataset, run_key="asked", **required)
    is_text(answer["text"])


def test_what_was_loaded_names_raters_as_text(tmp_path: Any) -> None:
    table = coco()
    for image in table["images"]:
        image["rater_list"] = [RATERS["ann"], *image["rater_list"][1:]]
    table["annotations"][0]["rater_id"] = RATERS["ann"]
    written = summary(kf.load_raters(table, "hostile-loaded", canvas=tmp_path / "canvas"))
    is_text(written)
    assert "*d* <i>a</i>" in in_markdown(written).text


def test_an_error_names_records_as_text() -> None:
    written = problem(InputError(f"classes: got {CLASSES['cat']}\n{CLASSES['owl']}\n# [a](b)"))
    is_text(written)
    assert "<b>**x**</b>|" in in_markdown(written).text
    assert "# [a](b)" in in_markdown(written).text
