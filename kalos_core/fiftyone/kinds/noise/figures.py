"""Figures of synthetic raters: events, images with the most events, and fidelity."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kalos_core.display import number_of
from kalos_core.fiftyone.kinds.noise.kind import NoiseRun
from kalos_core.fiftyone.kinds.noise.views import NoisyImage
from kalos_core.fiftyone.runs.records import Undefined
from kalos_core.fiftyone.runs.table import Part
from kalos_core.figures import plot_rater_events
from kalos_core.figures.common import untitled
from kalos_core.figures.events import image_event_bars
from kalos_core.report import Block, Text, synthetic
from kalos_core.text import shown


def figures(run: NoiseRun, images: Sequence[NoisyImage] | None = None) -> dict[str, Part]:
    """Return the figures of a run.

    - ``events``: numbers of events of each kind that were done, lost or impossible;
    - ``loss``: signal loss compared with the paper;
    - ``fidelity``: whether generated raters differ as the real ones do;
    - ``images``: images from `noisy_images`, if given.
    """
    details = run.details
    parts = {
        "events": Part(*untitled(plot_rater_events(details.raters, details.loss)), _over_what(run)),
        "loss": Part.of(details.loss_by_magnitude),
        "fidelity": Part.of(details.fidelity),
    }
    return parts if images is None else {**parts, "images": _images(images, run)}


def _images(images: Sequence[NoisyImage], run: NoiseRun) -> Part:
    if not images:
        return Part("No annotation was missed, added, split, merged or misclassified on any image")
    of = f"of {number_of(run.metrics['images'], 'image')}"
    title = (
        f"{number_of(run.metrics['changed_images'], f'{of} has', f'{of} have')} events; the most: "
        f"{images[0].changed:,} on {shown(images[0].file)}"
    )
    return Part(title, image_event_bars([image.file for image in images], [image.events for image in images]))


def _over_what(run: NoiseRun) -> str:
    """Describe how many labels were generated, and their fields."""
    metrics = run.metrics
    first, *rest = map(shown, metrics["fields"])
    fields = f"fields {first} to {rest[-1]}" if len(rest) > 1 else f"fields {', '.join([first, *rest])}"
    return f"{number_of(metrics['annotations'], 'label')} on {number_of(metrics['images'], 'image')}; {fields}."


def drawn(run: NoiseRun) -> Iterator[Block]:
    """Return the same figures as blocks of a report."""
    details = run.details
    yield synthetic.events(details.raters, details.loss)
    yield synthetic.lost(details.loss_by_magnitude)
    if isinstance(details.fidelity, Undefined):
        yield Text(details.fidelity.reason, soft=True)
    else:
        yield synthetic.faithful(details.fidelity)
