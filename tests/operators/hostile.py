"""Names that would be markup if they were not shown as text, and data sets with them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import fiftyone as fo

from kalos_core.fiftyone.dataset.raters import store_raters
from tests.operators.calls import data_set
from tests.test_text import MARKDOWN, in_markdown

RATERS = {"ann": "*d* <i>\u202ea</i>", "bob": "$x|y", "cid": "`c` [l](http://a.b)"}
"""Field -> its rater."""

CLASSES = {"cat": "<b>**x**</b>|\u202e", "dog": "_y_ ~~d~~\n# a", "owl": "1. <img src=x onerror=alert(1)>"}
"""Class -> its name here."""

OWN_TAGS = {"p", "strong", "em", "ul", "li", "code", "table", "thead", "tbody", "tr", "th", "td"}
"""Elements used in summaries and panels."""


def is_text(written: str) -> None:
    """Check that Markdown shows all names in it as text."""
    read = in_markdown(written)
    assert set(read.tags) <= OWN_TAGS, (written, read.tags)
    assert "\u202e" not in read.text
    assert not {"d", "x", "y"} & set(re.findall(r"<(?:em|strong|del)>(.*?)</", MARKDOWN.convert(written)))


def hostile(samples: Iterable[fo.Sample]) -> fo.Dataset:
    """Return samples of three raters, with hostile names of raters and classes."""
    samples = list(samples)
    for sample in samples:
        for name in sample.field_names:
            _rename(sample[name])
        if sample.has_field("raters"):
            sample["raters"] = [RATERS[name] for name in sample["raters"] or []]
    dataset = data_set(samples)
    store_raters(dataset, {name: field for field, name in RATERS.items()})
    return dataset


def _rename(value: Any) -> None:
    for label in (*(getattr(value, "detections", None) or ()), *(getattr(value, "classifications", None) or ()), value):
        if getattr(label, "label", None) in CLASSES:
            label.label = CLASSES[label.label]
