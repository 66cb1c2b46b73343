"""Reader of supervision's `Detections`; the package need not be installed, as any object with their fields is read."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations import Annotations, as_name
from kalos_core.errors import InputError, repr_of, text_of
from kalos_core.options import Option, takes
from kalos_core.readers.findings import Findings
from kalos_core.readers.settings import AliasSettings
from kalos_core.readers.shapes import run_lengths
from kalos_core.readers.sizes import Sizes, read_sizes

CORNERS = "xyxyxyxy"
"""Field of the data with the four corners of oriented boxes."""

ONE_CLASS = "object"
"""Class of detections without a class."""


@dataclass(frozen=True, kw_only=True)
class SupervisionSettings(AliasSettings):
    """Options of `read_supervision`."""

    images: Annotated[
        Sequence[Hashable] | None,
        Option(
            "Images",
            "Names of the images of lists, in order; by default 0, 1, 2, ...",
            type="sequence, optional",
        ),
    ] = None
    classes: Annotated[
        Sequence[str] | Mapping[int, str] | None,
        Option(
            "Classes",
            "Names of the classes by number, for detections without class_name; by default the numbers.",
            type="sequence or mapping, optional",
        ),
    ] = None
    sizes: Sizes = None


@takes(SupervisionSettings)
def read_supervision(
    detections: Mapping[str, Sequence[Any] | Mapping[Any, Any]], settings: SupervisionSettings
) -> Annotations:
    """Read supervision's ``Detections`` of several raters.

    Parameters
    ----------
    detections : mapping
        Rater -> a list with one ``Detections`` per image, or a mapping image -> ``Detections``. Empty ``Detections``
        mean that the rater saw the image and annotated nothing. None, or a missing image, means that the rater was not
        assigned.

        These fields of ``Detections`` are read: ``xyxy`` (n, 4), ``mask`` (n, H, W) or None, ``class_id`` (n,) or None,
        and in ``data``, ``"class_name"`` (n,) and ``"xyxyxyxy"`` (n, 4, 2), the corners of oriented boxes.

    Returns
    -------
    Annotations

    Raises
    ------
    InputError
        If lists have different lengths, an entry is not ``Detections``, a field has a wrong shape, or a detection is
        invalid.

    References
    ----------
    supervision, "Detections", https://supervision.roboflow.com/latest/detection/core/

    Examples
    --------
    >>> from types import SimpleNamespace as Detections  # or supervision's own
    >>> found = Detections(xyxy=np.array([[10, 20, 40, 60]]), mask=None, class_id=np.array([1]), data={})
    >>> none = Detections(xyxy=np.zeros((0, 4)), mask=None, class_id=None, data={})
    >>> annotations = read_supervision({"ann": [found], "bob": [none]}, images=["a.jpg"], classes=["cat", "dog"])
    >>> annotations.shapes["box"].xywh().tolist(), annotations.categories.tolist(), annotations.assigned.tolist()
    ([[10.0, 20.0, 30.0, 40.0]], ['dog'], [[True, True]])
    """
    if not detections:
        raise InputError("detections: expected a mapping rater -> detections of every image, got an empty one")
    of_rater = {as_name(rater): _by_image(rater, given, settings.images) for rater, given in detections.items()}
    findings = Findings("detections", settings.on_invalid)
    findings.raters = dict.fromkeys(of_rater)
    size_of = read_sizes(settings.sizes)
    for image in dict.fromkeys(image for found in of_rater.values() for image in found):
        record = f"size of {image!r}"
        findings.add_image(image, record, file=text_of(image), size=findings.size_from(*size_of(image), record))
    for rater, found in of_rater.items():
        for image, held in found.items():
            if held is not None:
                findings.assign(image, rater)
                _read(findings, rater, image, held, settings.classes)
    return findings.build(aliases=settings.aliases)


def _by_image(rater: str, given: Any, images: Sequence[Hashable] | None) -> dict[Hashable, Any]:
    if isinstance(given, Mapping):
        return dict(given)
    if isinstance(given, (str, bytes)) or not isinstance(given, Sequence):
        raise InputError(
            f"detections[{rater!r}]: expected a list or a mapping of Detections, got {type(given).__name__}"
        )
    names = range(len(given)) if images is None else list(images)
    if len(names) != len(given):
        raise InputError(
            f"detections[{rater!r}]: expected one Detections for each of {len(names)} images, got {len(given)}"
        )
    return dict(zip(names, given, strict=True))


def _read(findings: Findings, rater: str, image: Hashable, held: Any, classes: Any) -> None:
    record = f"detections[{rater!r}][{image!r}]"
    boxes = _field(held, "xyxy", record, (None, 4))
    if boxes is None:
        raise InputError(f"{record}: expected Detections with xyxy, got {type(held).__name__}")
    count = len(boxes)
    data = getattr(held, "data", None) or {}
    masks = _field(held, "mask", record, (count, None, None))
    numbers = _field(held, "class_id", record, (count,))
    names = _field(data, "class_name", record, (count,))
    corners = _field(data, CORNERS, record, (count, 4, 2))
    if masks is not None and count:
        findings.add_image(image, record, size=(float(masks.shape[2]), float(masks.shape[1])))
    for row in range(count):
        number = None if numbers is None else numbers[row]
        category = as_name(names[row] if names is not None else _class_name(number, classes, record))
        where = f"{record}, detection {row + 1}"
        if not isinstance(category, str):
            findings.problems.add(where, "a class name", repr_of(category))
            continue
        x_min, y_min, x_max, y_max = boxes[row].tolist()
        shape: dict[str, Any] = {"box": [x_min, y_min, x_max - x_min, y_max - y_min]}
        if masks is not None:
            shape["mask"] = run_lengths(np.asarray(masks[row]) != 0)
        if corners is not None:
            shape["polygon"] = [corners[row].tolist()]
        findings.add_annotation(where, image, rater, category, **shape)


def _field(held: Any, name: str, record: str, shape: tuple[int | None, ...]) -> NDArray[Any] | None:
    """Return a field of detections, None if it is missing; an unexpected shape is an error."""
    value = held.get(name) if isinstance(held, Mapping) else getattr(held, name, None)
    if value is None:
        return None
    array = np.asarray(value)
    fits = array.ndim == len(shape) and all(
        side in (None, length) for side, length in zip(shape, array.shape, strict=False)
    )
    if name in ("xyxy", CORNERS):
        fits = fits and array.dtype.kind in "biuf"
    if not fits:
        expected = " x ".join("any" if side is None else str(side) for side in shape)
        raise InputError(f"{record}: expected {name} of shape {expected}, got {array.shape} of {array.dtype}")
    return array


def _class_name(number: Any, classes: Any, record: str) -> Any:
    if number is None:
        return ONE_CLASS
    if classes is None:
        return number
    try:
        return classes[int(number)]
    except (KeyError, IndexError, TypeError, ValueError):
        raise InputError(f"{record}: expected a class_id among the classes, got {repr_of(number)}") from None
