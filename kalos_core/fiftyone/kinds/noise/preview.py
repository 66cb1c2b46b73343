"""Preview of a synthetic rater on one image, without writing anything."""

from __future__ import annotations

from typing import Any

import numpy as np

from kalos_core.drawing.generated import NoisePreview, preview_generated
from kalos_core.errors import check_name
from kalos_core.fiftyone.dataset.database import files_of
from kalos_core.fiftyone.dataset.raters import rater_fields
from kalos_core.fiftyone.dataset.samples import check_samples
from kalos_core.fiftyone.kinds.noise.settings import PreviewArguments
from kalos_core.fiftyone.kinds.noise.sources import Reference
from kalos_core.noise.model import choose_model
from kalos_core.options import takes

OTHERS = 24
"""Number of further images to read; additions come from their annotations."""


@takes(PreviewArguments)
def preview_noise(samples: Any, settings: PreviewArguments) -> NoisePreview:
    """Preview a rater of `inject_noise` on one image; nothing is written.

    Parameters
    ----------
    samples : fiftyone.core.collections.SampleCollection
        Only a few samples are read. The run itself uses the probabilities of all samples, so its annotations differ.
    reference : str
        As in `inject_noise`, but only one.
    sample_id : str, optional
        Id of the image. By default, or if the image has no annotations of the reference, the first annotated image.

    Raises
    ------
    InputError
        If `inject_noise` would refuse the input.
    """
    check_samples(samples)
    few = _few(samples, check_name(settings.reference, "reference"), settings.sample_id)
    origin = Reference.of(few, settings.reference, (), settings)
    labels = origin.read(few)
    chosen, _ = choose_model(settings.model, labels.annotations)
    result = chosen.generate(labels.annotations, 1, settings.magnitude, settings.seed, reference=list(origin.names))
    images, annotated = result.original.images, np.unique(result.original.image)
    image = int(next((code for code in annotated if images[code] == settings.sample_id), annotated[0]))
    return preview_generated(result, image, files_of(few)[images[image]])


def _few(samples: Any, reference: str, sample_id: str | None) -> Any:
    """Return the shown image and some others, all with labels of the reference if it has a field."""
    field = rater_fields(samples).get(reference, reference)
    view = samples.exists(field) if field in samples.get_field_schema() else samples
    ids = view.limit(OTHERS + 1).values("id")
    if sample_id is not None:
        ids = [sample_id, *(key for key in ids if key != sample_id)]
    return samples.select(ids) if ids else samples
