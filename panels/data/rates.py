"""How often each rater differs, per object: the labels behind each rate."""

from kalos_core.fiftyone.kinds.variations.views import view_of_findings
from kalos_core.text import plain

from .base import Asked, Led

RATE_TEXTS = {
    "missing": "objects that others have and {} has not",
    "additional": "labels that only {} has",
    "wrong_class": "labels to which {} and others give different classes",
    "merges": "labels of {} that are several of another rater",
    "splits": "labels of {} that are parts of another rater's",
}
"""Name of a rate -> what is in its view."""


def led_to_rate(asked: Asked) -> Led:
    """The labels behind the rate `kind` of a `rater`, which are what was clicked."""
    rater, kind = asked.given["rater"], asked.given["kind"]
    run, category = asked.run("variations"), asked.lens.category
    view = view_of_findings(asked.dataset, run.key, [kind], rater=rater, category=category)
    return Led(view, f"images with {RATE_TEXTS[kind].format(plain(rater))}")
