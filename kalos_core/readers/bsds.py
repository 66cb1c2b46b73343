"""Reader of BSDS500: segmentations of images by several people, one MATLAB file per image."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations.columns import object_array
from kalos_core.errors import InputError, Problems
from kalos_core.files import as_path, open_file
from kalos_core.options import Settings, takes
from kalos_core.pixels.stack import LabelStack, MaskStack
from kalos_core.readers.folders import files_in
from kalos_core.readers.mask_folders import ImageFolder, image_files, read_image_pixels
from kalos_core.readers.matlab import read_variable


@dataclass(frozen=True, eq=False)
class BsdsFiles:
    """Segmentations of I images on disk, read one image at a time; the result of `read_bsds`.

    Parameters
    ----------
    images : (I,) object
        Path of each file within the folder, without its extension.
    files : dict
        Image -> its MATLAB file.
    image_files : dict
        Image -> file of the image itself, if available.
    """

    images: NDArray[np.object_]
    files: Mapping[str, Path]
    image_files: Mapping[str, Path]

    def __len__(self) -> int:
        return len(self.images)

    def stacks(self) -> Iterator[MaskStack]:
        """Yield the boundaries of each segmenter, one stack per image.

        Raises
        ------
        InputError
            For a file that cannot be read or is not one of BSDS500.
        """
        for image in self.images:
            yield self._stack(image, "Boundaries", MaskStack.of, np.uint8)

    def label_stacks(self) -> Iterator[LabelStack]:
        """Yield the regions of each segmenter, numbered from 1, one stack per image; otherwise as `stacks`.

        Numbers identify regions of one segmenter. They are not classes, and do not correspond between segmenters.
        """
        for image in self.images:
            yield self._stack(image, "Segmentation", LabelStack.of, np.int64)

    def image_pixels(self, image: str) -> NDArray[Any] | None:
        """Return the pixels of an image; None if its file is not available."""
        return read_image_pixels(self.image_files[image]) if image in self.image_files else None

    def _stack(self, image: str, field: str, make: Callable[..., Any], dtype: type) -> Any:
        found: dict[str, NDArray[Any]] = {
            str(number): array.astype(dtype) for number, array in enumerate(_read(self.files[image], field), 1)
        }
        return make(found, image=image, image_pixels=self.image_pixels(image), raters_are_local=True)


@dataclass(frozen=True, kw_only=True)
class BsdsSettings(Settings):
    """Options of `read_bsds`."""

    image_folder: ImageFolder = None


@takes(BsdsSettings)
def read_bsds(path: str | os.PathLike[str], settings: BsdsSettings) -> BsdsFiles:
    """List the ground truth files of the Berkeley Segmentation Data Set, such as ``groundTruth/train/2092.mat``.

    Only the names are read here; `BsdsFiles.stacks` and `BsdsFiles.label_stacks` read the files one by one.

    Parameters
    ----------
    path : path
        A ``.mat`` file, or a folder of them, searched at any depth.

    Returns
    -------
    BsdsFiles
        Raters are "1", "2", ... and local to their image: segmenter 1 differs from image to image. All segmenters of a
        file are assigned to its image.

    Raises
    ------
    InputError
        If there is no such file.

    References
    ----------
    Arbelaez et al., "Contour Detection and Hierarchical Image Segmentation", IEEE TPAMI 33 (2011);
    https://www2.eecs.berkeley.edu/Research/Projects/CS/vision/grouping/resources.html

    Examples
    --------
    >>> from scipy.io import savemat
    >>> truth = np.empty((1, 2), object)
    >>> for number, regions in enumerate(([[1, 1, 2]], [[1, 2, 2]])):
    ...     edges = np.diff(regions, append=0) > 0
    ...     truth[0, number] = {"Segmentation": np.array(regions, np.uint16), "Boundaries": edges}
    >>> savemat("2092.mat", {"groundTruth": truth})
    >>> found = read_bsds("2092.mat")
    >>> [(stack.image, stack.masks.astype(int).tolist()) for stack in found.stacks()]
    [('2092', [[[0, 1, 0]], [[1, 0, 0]]])]
    >>> next(found.label_stacks()).labels.tolist()
    [[[1, 1, 2]], [[1, 2, 2]]]
    """
    source, problems = as_path(path, "path"), Problems("BSDS files")
    if os.path.isdir(source):
        files = files_in(source, (".mat",), problems)
    else:
        files = {source.stem: source} if source.suffix.lower() == ".mat" and os.path.isfile(source) else {}
    if not files:
        raise InputError(f"{source}: expected a .mat file of BSDS500 or a folder of them, got none")
    beside = image_files(settings.image_folder, problems)
    problems.raise_if_any()
    return BsdsFiles(object_array(files), files, {image: beside[image] for image in files if image in beside})


def _read(path: Path, field: str) -> list[NDArray[Any]]:
    """Return the (H, W) array of each segmenter."""
    with open_file(path, "MATLAB file of BSDS500", unpacked=False) as file:
        cells = read_variable(file.read(), "groundTruth", str(path))
    if not isinstance(cells, list) or not cells:
        raise InputError(f"{path}: expected a cell array 'groundTruth', got {'none' if cells is None else 'another'}")
    arrays = []
    for number, cell in enumerate(cells, start=1):
        array = cell[0].get(field) if isinstance(cell, list) and cell and isinstance(cell[0], dict) else None
        if not isinstance(array, np.ndarray) or array.ndim != 2 or not array.size:
            raise InputError(f"{path}, segmenter {number}: expected a field '{field}' of height x width, got another")
        arrays.append(array)
    if len({array.shape for array in arrays}) > 1:
        sizes = ", ".join(f"{array.shape[1]} x {array.shape[0]}" for array in arrays)
        raise InputError(f"{path}: expected segmentations of one width and height, got {sizes}")
    return arrays
