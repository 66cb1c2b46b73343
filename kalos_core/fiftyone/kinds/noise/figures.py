"""What is shown of synthetic raters: their events by kind, and the images with the most of them."""

from __future__ import annotations

from collections.abc import Sequence

from kalos_core.fiftyone.kinds.noise.details import NoiseMetrics, stored_fidelity
from kalos_core.fiftyone.kinds.noise.kind import NoiseRun
from kalos_core.fiftyone.kinds.noise.views import NoisyImage
from kalos_core.fiftyone.runs.table import Part
from kalos_core.figures import event_bars, events_title, fidelity_dots, fidelity_title, image_event_bars


def figures(run: NoiseRun, images: Sequence[NoisyImage] | None = None) -> dict[str, Part]:
    """``events``: how many of each kind were done, lost, impossible; ``images``: those of `noisy_images`, if given.

    Of a model that was fitted ``fidelity``: whether generated raters differ as the real ones do.
    """
    metrics = run.metrics
    title = events_title(
        metrics["references"],
        len(metrics["fields"]),
        metrics["changed"],
        metrics["generated_from"],
        metrics["signal_loss"],
    )
    parts = {"events": Part(title, event_bars(metrics["events"]))}
    if run.details["fidelity"]:
        found = stored_fidelity(run.details["fidelity"])
        parts["fidelity"] = Part(fidelity_title(found), fidelity_dots(found))
    return parts if images is None else {**parts, "images": _images(images, metrics)}


def _images(images: Sequence[NoisyImage], metrics: NoiseMetrics) -> Part:
    if not images:
        return Part("On no image was an annotation missed, added, split, merged or misnamed")
    title = (
        f"{metrics['changed_images']:,} of {metrics['images']:,} images have events; the most: "
        f"{images[0].changed:,} on {images[0].file}"
    )
    return Part(title, image_event_bars([image.file for image in images], [image.events for image in images]))
