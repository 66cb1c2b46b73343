"""Reader of mask folders: one folder per rater, one PNG or TIFF per image."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations.columns import object_array
from kalos_core.display import number_of
from kalos_core.errors import InputError, Problems, listed
from kalos_core.files import BROKEN, entries_of, files_below, open_image, read_text, reason
from kalos_core.limits import check_pixels
from kalos_core.options import Option, Settings, takes
from kalos_core.pixels.stack import LabelStack, MaskStack
from kalos_core.pixels.stored import IgnoreValue, without_ignored
from kalos_core.readers.folders import (
    IMAGE_FOLDERS,
    AssignedFiles,
    Folders,
    as_folder,
    assigned_by_files,
    files_in,
    rater_folders,
)
from kalos_core.readers.settings import RatersAreLocal

TIFF = (".tif", ".tiff")
ENDINGS = (".png", *TIFF)
IMAGE_ENDINGS = (*ENDINGS, ".jpg", ".jpeg", ".bmp")


LABEL_MAPS = ("labelmap.txt", "label_colors.txt")
"""Names of files with a label map, in lower case, in CVAT's "Segmentation mask 1.1" and in CamVid."""

LABEL = re.compile(r"([^:]+):(\d{1,3}),(\d{1,3}),(\d{1,3})(?::.*)?|(\d{1,3})\s+(\d{1,3})\s+(\d{1,3})\s+(\S.*)")
"""A line of a label map: ``name:r,g,b:parts:actions``, or ``r g b name``."""

REMEDY = f"; for colours, add a {LABEL_MAPS[0]} with a line name:red,green,blue:: for each class next to the masks"

BACKGROUND = "background"

Color: TypeAlias = tuple[int, int, int]


@dataclass(frozen=True, eq=False, repr=False)
class MaskFolders:
    """Masks of I images and R raters on disk, read one image at a time; the result of `read_mask_folders`.

    Parameters
    ----------
    images : (I,) object
        Path of each image's masks within the raters' folders, without extension.
    raters : (R,) object
    assigned : (I, R) bool
        Whether a rater is assigned to an image.
    files : dict
        (image, rater) -> file, if it exists.
    image_files : dict
        Image -> file of the image itself, if it exists.
    ignore_value : int, optional
        A pixel to which any rater gives this value is ignored.
    channels : tuple of str, optional
        Names of the images' channels.
    raters_are_local : bool
        Whether a folder's name identifies a rater within one image only.
    values : mapping (red, green, blue) -> int
        With a label map, colour -> value of its class in stacks.
    classes : mapping int -> str
        With a label map, value -> name of its class; the background is 0.
    """

    images: NDArray[np.object_]
    raters: NDArray[np.object_]
    assigned: NDArray[np.bool_]
    files: Mapping[tuple[str, str], Path]
    image_files: Mapping[str, Path]
    ignore_value: int | None = None
    channels: tuple[str, ...] | None = None
    raters_are_local: bool = False
    values: Mapping[Color, int] = field(default_factory=dict)
    classes: Mapping[int, str] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.images)

    def __repr__(self) -> str:
        raters = f"{number_of(len(self.raters), 'rater')}: {listed(self.raters)}"
        return f"MaskFolders({number_of(len(self.images), 'image')}, {number_of(len(self.files), 'file')}, {raters})"

    def stacks(self) -> Iterator[MaskStack]:
        """Yield binary masks (0 and 1, or 0 and 255), one stack per image.

        Raises
        ------
        InputError
            For a label map of several classes, or a file that cannot be read. Also if a mask has another size than
            the others of the image, invalid values, colours that are not in a label map, or a palette that numbers
            colours differently from that of another file.
        """
        if len(self.classes) > 2:  # the background and one more
            raise InputError(
                f"masks: expected those of one class, got a label map of {listed(self.classes.values())}; "
                "`kalos-core divisions` and `kalos-core truth` read label maps (in Python `label_stacks`)"
            )
        for image, arrays in self._images():
            masks, ignore = without_ignored(arrays, self.ignore_value)
            yield MaskStack.of(masks, ignore=ignore, image=image, **self._about(image))

    def label_stacks(self) -> Iterator[LabelStack]:
        """Yield label maps, one stack per image; otherwise as `stacks`.

        Raises
        ------
        InputError
            As raised by `stacks`; also if some raters mark pixels by 1 and others by 255.
        """
        for image, arrays in self._images():
            labels, ignore = without_ignored(arrays, self.ignore_value)
            values = {
                rater: set(np.unique(array).tolist()) - {0} for rater, array in labels.items() if array is not None
            }
            marked = {value: rater for rater, found in values.items() for value in found if found in ({1}, {255})}
            if len(marked) > 1:
                actual = f"1 by {marked[1]!r} and 255 by {marked[255]!r}"
                remedy = "; if 255 is no class, pass ignore_value=255"
                raise InputError(f"image {image!r}: expected one value for a class, got {actual}{remedy}")
            yield LabelStack.of(labels, ignore=ignore, image=image, **self._about(image))

    def image_pixels(self, image: str) -> NDArray[Any] | None:
        """Return the pixels of an image; None if its file does not exist."""
        return read_image_pixels(self.image_files[image]) if image in self.image_files else None

    def _about(self, image: str) -> dict[str, Any]:
        return {
            "image_pixels": self.image_pixels(image),
            "channels": self.channels,
            "raters_are_local": self.raters_are_local,
        }

    def _images(self) -> Iterator[tuple[str, dict[str, NDArray[Any] | None]]]:
        """Yield every image with an array for each assigned rater, None for a rater without a file."""
        palette: dict[Color, tuple[int, Path]] = {}
        for image, assigned in zip(self.images, self.assigned, strict=True):
            files = {rater: self.files.get((image, rater)) for rater in self.raters[assigned]}
            arrays = {rater: None if file is None else self._read(file, palette) for rater, file in files.items()}
            sizes = {rater: array.shape for rater, array in arrays.items() if array is not None}
            if len(set(sizes.values())) > 1:
                actual = listed((f"{size[1]} x {size[0]} by {rater!r}" for rater, size in sizes.items()), 20)
                raise InputError(f"image {image!r}: expected masks of one width and height, got {actual}")
            yield image, arrays

    def _read(self, file: Path, palette: dict[Color, tuple[int, Path]]) -> NDArray[Any]:
        """Read a mask by the label map; without one, return its values after a check that palettes agree."""
        if self.values:
            return _by_label_map(file, self.values, self.classes)
        array = read_mask(file, REMEDY)
        for color, value in _palette(file, array):
            known, place = palette.setdefault(color, (value, file))
            if known != value:
                raise InputError(
                    f"{file}: expected {color} as colour {known} of the palette, as in {place}, got {value}{REMEDY}"
                )
        return array


ImageFolder = Annotated[
    str | os.PathLike[str] | None,
    Option(
        "Folder of the images",
        "Folder of images with the same names as the masks.",
        type="path, optional",
        flag="images",
    ),
]


@dataclass(frozen=True, kw_only=True)
class MaskFoldersSettings(Settings):
    """Options of `read_mask_folders`."""

    assigned: AssignedFiles = "files"
    image_folder: ImageFolder = None
    ignore_value: IgnoreValue = None
    channels: Annotated[
        Sequence[str] | None,
        Option(
            "Channels",
            "Names of the channels of the images, such as red, green, blue, near-infrared.",
            type="sequence of str, optional",
            flag="channel_names",
        ),
    ] = None
    raters_are_local: RatersAreLocal = False


@takes(MaskFoldersSettings)
def read_mask_folders(folders: Folders, settings: MaskFoldersSettings) -> MaskFolders:
    """List masks of several raters in ``folder/rater/image.png``; masks of one image have the same name.

    Only names are read here; `MaskFolders.stacks` reads the masks one image at a time.

    Parameters
    ----------
    folders : path or mapping
        A folder with one folder per rater (directly or in ``masks``), or rater -> folder. A folder
        ``SegmentationClass`` is not part of the name of an image; folders of images and ``SegmentationObject`` are
        ignored. A ``labelmap.txt`` in any of them (one ``name:red,green,blue::`` per line, as written by CVAT) maps
        colours to values for all raters: 0 is the background, and the classes are numbered from 1 in the order of the
        file. A rater who was assigned to an image and has no file for it annotated nothing there.

    Returns
    -------
    MaskFolders

    Raises
    ------
    InputError
        For a folder that does not exist or has fewer than two raters, a rater without a mask, two masks of one rater
        and image, an unknown image or rater in `assigned`, a mask of a rater who was not assigned, or different label
        maps.

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
    homes = rater_folders(folders)
    problems = Problems("mask folders")
    found = {
        rater: files_in(home, ENDINGS, problems, wrapped=True, beside=IMAGE_FOLDERS) for rater, home in homes.items()
    }
    for rater, files in found.items():
        if not files:
            problems.add(f"rater {rater!r}", f"PNG or TIFF files in {homes[rater]}", "none")
    problems.raise_if_any()
    values, classes = _label_map(None if isinstance(folders, Mapping) else Path(folders), homes)
    images = sorted(set().union(*found.values()))
    raters = list(homes)
    lists = assigned_by_files(found, settings.assigned, images)
    who = np.array([[rater in lists[image] for rater in raters] for image in images], dtype=np.bool_)
    has_mask = np.array([[image in found[rater] for rater in raters] for image in images], dtype=np.bool_)
    stray = [f"{raters[rater]!r} on {images[image]!r}" for image, rater in np.argwhere(has_mask & ~who)]
    if stray:
        raise InputError(f"assigned: expected every rater with a mask to be listed, got masks of {listed(stray)}")
    image_file_of = image_files(settings.image_folder, problems)
    problems.raise_if_any()
    return MaskFolders(
        images=object_array(images),
        raters=object_array(raters),
        assigned=who,
        files={(image, rater): file for rater, files in found.items() for image, file in files.items()},
        image_files={image: image_file_of[image] for image in images if image in image_file_of},
        ignore_value=settings.ignore_value,
        channels=None if settings.channels is None else tuple(settings.channels),
        raters_are_local=bool(settings.raters_are_local),
        values=values,
        classes=classes,
    )


def image_files(folder: str | os.PathLike[str] | None, problems: Problems) -> dict[str, Path]:
    """Return image -> file in a folder of images."""
    return {} if folder is None else files_in(as_folder(folder, "image_folder"), IMAGE_ENDINGS, problems)


def _label_map(root: Path | None, homes: Mapping[str, Path]) -> tuple[dict[Color, int], dict[int, str]]:
    """Return colour -> value and value -> class of the label maps of all raters, which must agree."""
    places = dict.fromkeys([*([] if root is None else [root]), *(home.parent for home in homes.values() if root)])
    files = [file for place in places for file in entries_of(place)[1]]
    files += [file for home in homes.values() for file in files_below(home)]
    named: dict[Color, tuple[str, Path]] = {}
    for file in dict.fromkeys(file for file in files if file.name.lower() in LABEL_MAPS):
        for number, line in enumerate(read_text(file, "label map").splitlines(), start=1):
            if not line.strip() or line.startswith("#"):
                continue
            match = LABEL.fullmatch(line.strip())
            if match is None or max(int(match[n] or match[n + 3]) for n in (2, 3, 4)) > 255:
                raise InputError(f"{file}, line {number}: expected name:red,green,blue::, got {line!r}")
            name = (match[1] or match[8]).strip()
            red, green, blue = (int(match[n] or match[n + 3]) for n in (2, 3, 4))
            color = (red, green, blue)
            known, place = named.setdefault(color, (name, file))
            if known != name:
                raise InputError(
                    f"{file}, line {number}: expected {known!r} for {color}, as in {place}, got {name!r}; "
                    "give all raters one label map"
                )
    names = dict.fromkeys(name for name, _ in named.values() if name.lower() != BACKGROUND)
    numbers_of = {name: value for value, name in enumerate(names, start=1)}
    values = {color: numbers_of.get(name, 0) for color, (name, _) in named.items()}
    return values, {0: BACKGROUND, **{value: name for name, value in numbers_of.items()}} if named else {}


def _by_label_map(file: Path, values: Mapping[Color, int], classes: Mapping[int, str]) -> NDArray[Any]:
    """Return the (H, W) values of a mask's colours."""
    with open_image(file) as opened:
        if "A" in opened.getbands() and opened.getchannel("A").getextrema() != (255, 255):
            raise InputError(f"{file}: expected a mask without transparent pixels, got some")
        pixels = np.asarray(opened.convert("RGB").convert("RGBX"))  # four bytes, which are one number
    codes, known = pixels.view(np.uint32)[..., 0], np.array([(*color, 255) for color in values], np.uint8)
    numbers = known.view(np.uint32)[:, 0]
    order = np.argsort(numbers)
    place = numbers[order].searchsorted(codes)
    np.minimum(place, len(order) - 1, out=place)
    is_strange = numbers[order][place] != codes
    if is_strange.any():
        strange = np.unique(pixels[is_strange], axis=0)[:, :3].tolist()
        named = listed((f"{classes[value]} {color}" for color, value in values.items()), 10)
        actual = listed(str(tuple(color)) for color in strange)
        raise InputError(f"{file}: expected colours of the label map ({named}), got {actual}")
    mask: NDArray[Any] = np.array(list(values.values()), np.min_scalar_type(len(classes)))[order][place]
    return mask


def _palette(file: Path, array: NDArray[Any]) -> list[tuple[Color, int]]:
    """Return the colours and numbers of the values in a mask with a palette; empty for other masks."""
    with open_image(file) as opened:
        colors = opened.getpalette("RGB") if opened.mode == "P" else None
    used = np.unique(array).tolist() if colors else []
    table = np.reshape(colors or [], (-1, 3)).tolist()
    return [((red, green, blue), value) for value in used if value < len(table) for red, green, blue in [table[value]]]


def read_mask(file: Path, remedy: str = "") -> NDArray[Any]:
    """Return the (H, W) values of a mask file: palette indices, or one channel if three channels are equal."""
    array: NDArray[Any] = read_image_pixels(file)
    if array.ndim == 3 and array.shape[2] == 3 and (array == array[..., :1]).all():
        return np.asarray(array[..., 0])
    if array.ndim != 2:
        raise InputError(f"{file}: expected a mask of one channel, got {array.shape[2]}{remedy}")
    return array


def read_image_pixels(file: Path) -> NDArray[Any]:
    """Return the (H, W) or (H, W, C) values of an image; a TIFF keeps all channels with their full bit depth."""
    channels = _tiff_channels(file) if file.suffix.lower() in TIFF else None
    if channels is not None:
        return channels
    with open_image(file) as opened:
        frames = getattr(opened, "n_frames", 1)
        if frames > 1:
            raise InputError(f"{file}: expected one image in a file, got {frames}")
        return np.asarray(opened)


def _tiff_channels(file: Path) -> NDArray[Any] | None:
    """Return the (H, W, C) values of a TIFF that Pillow cannot read correctly; None for other files.

    For several channels, Pillow keeps 8 of 16 bits, confuses channels that are stored separately, and supports at most
    four.
    """
    import tifffile  # comes with scikit-image; slow to import, and needed here only

    try:
        with tifffile.TiffFile(file) as opened:
            page = opened.pages.first
            usual = page.dtype == np.uint8 and page.axes == "YXS" and page.photometric == tifffile.PHOTOMETRIC.RGB
            if len(opened.pages) > 1 or page.samplesperpixel == 1 or usual:
                return None
            check_pixels(page.imagewidth, page.imagelength, str(file))
            values = np.asarray(page.asarray())
            return np.moveaxis(values, 0, 2) if page.axes == "SYX" else values
    except InputError:
        raise
    except (OSError, tifffile.TiffFileError):
        return None  # Pillow raises a specific error
    except (RuntimeError, *BROKEN) as error:  # a compression that tifffile has no codec for
        raise InputError(f"{file}: expected a readable image, got {reason(error)}") from error
