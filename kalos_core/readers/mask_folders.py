"""Mask folders: one folder a rater, one PNG or TIFF an image."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations.table import object_array
from kalos_core.arguments import check_arguments
from kalos_core.errors import InputError, Problems, listed, repr_of
from kalos_core.files import BROKEN, open_image, reason
from kalos_core.limits import check_limit
from kalos_core.pixels.stack import LabelStack, MaskStack
from kalos_core.pixels.stored import check_ignored, without_ignored
from kalos_core.readers.folders import as_folder, files_in, rater_folders

TIFF = (".tif", ".tiff")
ENDINGS = (".png", *TIFF)
IMAGE_ENDINGS = (*ENDINGS, ".jpg", ".jpeg", ".bmp")


class _About(TypedDict):
    """What stacks of an image say besides the masks."""

    image_pixels: NDArray[Any] | None
    channels: tuple[str, ...] | None
    raters_are_local: bool


@dataclass(frozen=True, eq=False)
class MaskFolders:
    """Masks on disk, read one image at a time. I images, R raters. Made by `read_mask_folders`.

    Parameters
    ----------
    images : (I,) object
        Path of each image's masks within the raters' folders, without its ending.
    raters : (R,) object
    assigned : (I, R) bool
        Who is assigned to an image.
    files : dict
        (image, rater) -> file, where there is one.
    image_files : dict
        Image -> its own file, where there is one.
    ignore_value : int, optional
        A pixel that any rater gives this value is ignored.
    channels : tuple of str, optional
        Names of the images' channels.
    raters_are_local : bool
        Whether a folder's name means a rater within one image only.
    """

    images: NDArray[np.object_]
    raters: NDArray[np.object_]
    assigned: NDArray[np.bool_]
    files: Mapping[tuple[str, str], Path]
    image_files: Mapping[str, Path]
    ignore_value: int | None = None
    channels: tuple[str, ...] | None = None
    raters_are_local: bool = False

    def __len__(self) -> int:
        return len(self.images)

    def stacks(self) -> Iterator[MaskStack]:
        """Binary masks, 0 and 1 or 0 and 255, one stack an image.

        Raises
        ------
        InputError
            For a file that cannot be read, has colours or other values, or another size than the image's others.
        """
        for image, arrays in self._images():
            masks, ignore = without_ignored(arrays, self.ignore_value)
            yield MaskStack.of(masks, ignore=ignore, image=image, **self._about(image))

    def label_stacks(self) -> Iterator[LabelStack]:
        """Label maps, one stack an image, otherwise as `stacks`."""
        for image, arrays in self._images():
            labels, ignore = without_ignored(arrays, self.ignore_value)
            yield LabelStack.of(labels, ignore=ignore, image=image, **self._about(image))

    def image_pixels(self, image: str) -> NDArray[Any] | None:
        """The pixels of an image; None where its file is not there."""
        return read_image_pixels(self.image_files[image]) if image in self.image_files else None

    def _about(self, image: str) -> _About:
        return {
            "image_pixels": self.image_pixels(image),
            "channels": self.channels,
            "raters_are_local": self.raters_are_local,
        }

    def _images(self) -> Iterator[tuple[str, dict[str, NDArray[Any] | None]]]:
        """Every image with an array for each rater who was assigned, None for one who has no file."""
        for image, assigned in zip(self.images, self.assigned, strict=True):
            files = {rater: self.files.get((image, rater)) for rater in self.raters[assigned]}
            arrays = {rater: None if file is None else read_mask(file) for rater, file in files.items()}
            sizes = {rater: array.shape for rater, array in arrays.items() if array is not None}
            if len(set(sizes.values())) > 1:
                actual = listed((f"{size[1]} x {size[0]} by {rater!r}" for rater, size in sizes.items()), 20)
                raise InputError(f"image {image!r}: expected masks of one width and height, got {actual}")
            yield image, arrays


def read_mask_folders(
    folders: str | os.PathLike[str] | Mapping[str, str | os.PathLike[str]],
    assigned: str | Mapping[str, Sequence[str]] = "files",
    image_folder: str | os.PathLike[str] | None = None,
    ignore_value: int | None = None,
    channels: Sequence[str] | None = None,
    raters_are_local: bool = False,
) -> MaskFolders:
    """Masks of several raters: ``folder/rater/image.png``, masks of one image having one name.

    Nothing but names is read here; the masks are when `MaskFolders.stacks` comes to them.

    Parameters
    ----------
    folders : path or mapping
        A folder that holds one folder a rater, or names -> folders.
    assigned : "files", "all" or mapping
        Who is assigned to an image: those who have a file of it, all raters, or those whom a mapping of images lists.
        One who was assigned and has no file annotated nothing.
    image_folder : path, optional
        Folder of the images, named as the masks.
    ignore_value : int, optional
        A pixel that any rater gives this value is ignored. Without it every value counts.
    channels : sequence of str, optional
        Names of the channels that images have, such as ``["red", "green", "blue", "near-infrared"]``.
    raters_are_local : bool
        Whether a folder's name means a rater within one image only, as in the Berkeley data, where segmenter 1 of one
        image is not segmenter 1 of the next.

    Returns
    -------
    MaskFolders

    Raises
    ------
    InputError
        For a folder that is not there or holds fewer than two raters, a rater without a mask, two masks of one rater
        and image, an `assigned` image or rater that is not known, or a mask of somebody who was not assigned.

    Examples
    --------
    >>> from PIL import Image
    >>> for rater, pixels in {"ann": [[0, 255]], "bob": [[255, 255]]}.items():
    ...     Path("masks", rater).mkdir(parents=True)
    ...     Image.fromarray(np.array(pixels, np.uint8)).save(Path("masks", rater, "a.png"))
    >>> found = read_mask_folders("masks")
    >>> [(stack.image, stack.masks.astype(int).tolist()) for stack in found.stacks()]
    [('a', [[[0, 1]], [[1, 1]]])]
    """
    check_arguments(read_mask_folders, locals())
    ignore_value = check_ignored(ignore_value)
    homes = rater_folders(folders)
    problems = Problems("mask folders")
    found = {rater: files_in(home, ENDINGS, problems) for rater, home in homes.items()}
    for rater, files in found.items():
        if not files:
            problems.add(f"rater {rater!r}", f"PNG or TIFF files in {homes[rater]}", "none")
    problems.raise_if_any()
    images = sorted(set().union(*found.values()))
    raters = list(homes)
    who = _assigned(assigned, images, raters, found)
    has_mask = np.array([[image in found[rater] for rater in raters] for image in images], dtype=np.bool_)
    stray = [f"{raters[rater]!r} on {images[image]!r}" for image, rater in np.argwhere(has_mask & ~who)]
    if stray:
        raise InputError(f"assigned: expected every rater with a mask to be listed, got masks of {listed(stray)}")
    image_file_of = (
        {} if image_folder is None else files_in(as_folder(image_folder, "image_folder"), IMAGE_ENDINGS, problems)
    )
    problems.raise_if_any()
    return MaskFolders(
        images=object_array(images),
        raters=object_array(raters),
        assigned=who,
        files={(image, rater): file for rater, files in found.items() for image, file in files.items()},
        image_files={image: image_file_of[image] for image in images if image in image_file_of},
        ignore_value=ignore_value,
        channels=None if channels is None else tuple(channels),
        raters_are_local=bool(raters_are_local),
    )


def _assigned(
    assigned: str | Mapping[str, Sequence[str]],
    images: Sequence[str],
    raters: Sequence[str],
    found: Mapping[str, Mapping[str, Path]],
) -> NDArray[np.bool_]:
    """(I, R) who was assigned."""
    if assigned == "all":
        return np.ones((len(images), len(raters)), np.bool_)
    if assigned == "files":
        return np.array([[image in found[rater] for rater in raters] for image in images], dtype=np.bool_)
    if not isinstance(assigned, Mapping):
        raise InputError(f"assigned: expected 'files', 'all' or lists of raters by image, got {repr_of(assigned)}")
    strange = [image for image in assigned if image not in set(images)]
    strange += [rater for names in assigned.values() for rater in names if rater not in raters]
    if strange:
        raise InputError(
            f"assigned: expected images with masks and raters with folders, got {listed(map(repr_of, strange))}"
        )
    unlisted = [image for image in images if image not in assigned]
    if unlisted:
        raise InputError(f"assigned: expected a list for every image, got none for {listed(map(repr_of, unlisted))}")
    return np.array([[rater in assigned[image] for rater in raters] for image in images], dtype=np.bool_)


def read_mask(file: Path) -> NDArray[Any]:
    """(H, W) values of a mask file; of a palette, the numbers of its colours."""
    array = read_image_pixels(file)
    if array.ndim != 2:
        raise InputError(f"{file}: expected a mask of one channel, got {array.shape[2]}")
    return array


def read_image_pixels(file: Path) -> NDArray[Any]:
    """(H, W) or (H, W, C) values of an image; of a TIFF of any number of channels, with all their bits."""
    channels = _tiff_channels(file) if file.suffix.lower() in TIFF else None
    if channels is not None:
        return channels
    with open_image(file) as opened:
        frames = getattr(opened, "n_frames", 1)
        if frames > 1:
            raise InputError(f"{file}: expected one image in a file, got {frames}")
        return np.asarray(opened)


def _tiff_channels(file: Path) -> NDArray[Any] | None:
    """(H, W, C) values of a TIFF that Pillow refuses or would read wrongly; None of all others.

    Pillow keeps 8 of 16 bits of a pixel of several channels, mixes up channels stored one after the other, and knows no
    more than red, green, blue and a fourth.
    """
    import tifffile  # comes with scikit-image; slow to import, and needed here only

    try:
        with tifffile.TiffFile(file) as opened:
            page = opened.pages.first
            usual = page.dtype == np.uint8 and page.axes == "YXS" and page.photometric == tifffile.PHOTOMETRIC.RGB
            if len(opened.pages) > 1 or page.samplesperpixel == 1 or usual:
                return None
            check_limit("KALOS_MOST_PIXELS", page.imagewidth * page.imagelength, str(file))
            values = np.asarray(page.asarray())
            return np.moveaxis(values, 0, 2) if page.axes == "SYX" else values
    except InputError:
        raise
    except (OSError, tifffile.TiffFileError):
        return None  # Pillow says what is wrong with it
    except (RuntimeError, *BROKEN) as error:  # a compression that tifffile has no codec for
        raise InputError(f"{file}: expected a readable image, got {reason(error)}") from error
