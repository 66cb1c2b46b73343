"""Reader of CVAT's XML for images and video: one export per annotator, or a project with one task per annotator."""

from __future__ import annotations

import os
import struct
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any
from xml.etree.ElementTree import Element

import numpy as np
import shapely
from numpy.typing import NDArray

from kalos_core.annotations import Annotations
from kalos_core.display import number_of
from kalos_core.errors import InputError, listed, repr_of
from kalos_core.files import as_float, as_path, load_xml, open_file, parse_xml
from kalos_core.limits import check_unpacked, limit
from kalos_core.nominal import LabelTable
from kalos_core.options import takes
from kalos_core.readers.answers import Answers, AnswerSettings
from kalos_core.readers.findings import UNKNOWN_SIZE, Findings, shapes_not_read
from kalos_core.readers.folders import Folders, rater_files
from kalos_core.readers.groups import Grouped, Part, Parts
from kalos_core.readers.settings import RaterFrom, ReaderSettings, reading
from kalos_core.readers.shapes import UnusableError, angle_in, box_or_polygon, ellipse, mask_at, numbers_in

LEFT_OUT = {
    "tag": "tags, which `kalos-core labels` reads",
    "polyline": "polylines, which no similarity compares",
}
"""Elements of an image or a track that are not read -> their description in the account."""

LONGEST_FRAME = 9
"""Maximum number of digits of a frame number."""


@dataclass(frozen=True, kw_only=True)
class CvatSettings(ReaderSettings):
    """Options of `read_cvat`."""

    rater_from: RaterFrom = "file"
    grouped: Grouped = "one"


@takes(CvatSettings)
@reading
def read_cvat(exports: Folders, settings: CvatSettings) -> Annotations:
    """Read labels of several annotators from CVAT exports: "CVAT for images 1.1" or "CVAT for video 1.1".

    Parameters
    ----------
    exports : path or mapping
        A folder of XML files, each named after its rater (without ``.xml``); or a folder of folders with one file each,
        named after the rater; or a mapping rater -> file. Each file may also be a zip file with an ``annotations.xml``.
        Images are matched by name. A rater is assigned to the images in their file, annotated or not. With
        ``rater_from="task"``, for the export of a project with one task per annotator, a single file is accepted, too.

    Returns
    -------
    Annotations
        Boxes (rotated boxes become polygons), polygons, ellipses as polygons of 64 corners, cuboids as the polygon
        around their 8 corners, masks, and points and skeletons as keypoints, all in pixels. Joints of skeletons are in
        the order of the first file. Hidden joints count as labelled, joints outside the image do not. Attributes are
        kept; ``occluded`` is one of them.

        Shapes of one group (``group_id``) and label are one object, as in CVAT's own exports to other formats:
        polygons, ellipses and boxes become one polygon of several rings, masks their union. The points of one
        annotation are the joints of one object, in their order; if their number differs within a label, each point is
        an object. If at least 80 % of a label's annotations have the same number of at least 3 points, other numbers
        are an error.

        Each frame of a video in which any rater annotated something is an image, ``video.mp4#12``. Shapes are read in
        the frames in which the file lists them, including interpolated ones, except shapes marked as outside.

    Warns
    -----
    KalosWarning
        If tags or polylines are left out, or shapes of a group cannot be joined.

    Raises
    ------
    InputError
        If a file cannot be read or is a different export, an image has two sizes, or a record is invalid.

    Examples
    --------
    >>> import tempfile
    >>> text = '<annotations><image id="0" name="a.jpg" width="20" height="10">{}</image></annotations>'
    >>> box = '<box label="cat" xtl="1" ytl="2" xbr="5" ybr="8"/>'
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "ann.xml").write_text(text.format(box))
    ...     _ = (Path(folder) / "bob.xml").write_text(text.format(""))
    ...     annotations = read_cvat(folder)
    >>> annotations.raters.tolist(), annotations.shapes["box"].xywh().tolist()
    (['ann', 'bob'], [[1.0, 2.0, 4.0, 6.0]])
    """
    files, source, names = _files(exports, settings.rater_from)
    reading = _Reading.of(Findings(source, settings.on_invalid))
    opened = {rater: _open(path) for rater, path in files.items()}
    order = dict.fromkeys(label for root in opened.values() for label in reading.declare(root))
    for rater, root in opened.items():
        reading.read(root, names[rater], rater, settings.rater_from == "task")
    reading.assign_frames()
    reading.parts.finish(settings.grouped)
    if reading.automatic:
        made = number_of(reading.automatic, "shape was", "shapes were")
        reading.findings.account.note(f"{made} made by a model (source auto) and count as the rater's")
    return reading.findings.build(order=order)


@dataclass(frozen=True, kw_only=True)
class CvatTagsSettings(AnswerSettings):
    """Options of `read_cvat_tags`."""

    rater_from: RaterFrom = "file"


@takes(CvatTagsSettings)
@reading
def read_cvat_tags(exports: Folders, settings: CvatTagsSettings) -> LabelTable:
    """Read image-level tags of several annotators from CVAT exports.

    Parameters
    ----------
    exports : path or mapping
        As in `read_cvat`.

    Returns
    -------
    LabelTable
        Items are the names of the images.

    Raises
    ------
    InputError
        As raised by `read_cvat`; if there is no tag, or an image has several tags that exclude each other.

    Examples
    --------
    >>> image = '<image id="0" name="a.jpg" width="20" height="10"><tag label="{}"/></image>'
    >>> for rater, tag in {"ann": "sharp", "bob": "blurred"}.items():
    ...     Path("tags").mkdir(exist_ok=True)
    ...     _ = Path("tags", f"{rater}.xml").write_text(f"<annotations>{image.format(tag)}</annotations>")
    >>> read_cvat_tags("tags").values().tolist()
    [[0, 1]]
    """
    files, source, names = _files(exports, settings.rater_from)
    reading, shapes = _Reading.of(Findings(source)), 0
    answers = Answers(settings.groups, "tag", reading.findings.problems)
    for rater, path in files.items():
        for image, record, who in reading.images(_open(path), names[rater], rater, settings.rater_from == "task"):
            shapes += sum(element.tag in SHAPES for element in image)
            tags = [label for label in map(_label, image.iterfind("tag")) if label]
            answers.add(record, (image.get("name") or "").strip() or None, who, tags)
    if not any(answers.raw.label):
        raise InputError(f"{source}: expected tags of images, got none")
    reading.findings.account.notes += shapes_not_read(shapes)
    return answers.build(source, settings, reading.findings.account)


def _open(path: Path) -> Element:
    root = _unpacked(path) if path.suffix.lower() == ".zip" else load_xml(path, "CVAT export")
    video = root.find("track") is not None or (root.findtext("meta//mode") or "").strip() == "interpolation"
    if root.tag != "annotations" or (root.find("image") is None and not video):
        expected = "an export in the format 'CVAT for images 1.1' or 'CVAT for video 1.1'"
        raise InputError(f"{path}: expected {expected}, got <{root.tag}> without images and tracks")
    if root.find("track") is not None and len(_tasks(root)) > 1:
        raise InputError(
            f"{path}: expected the tracks of one task, got those of {len(_tasks(root))} tasks, whose frame "
            "numbers overlap; export each task separately"
        )
    return root


def _unpacked(path: Path) -> Element:
    """Return the root of the annotations.xml in a zip file."""
    with open_file(path, "zip file", unpacked=False) as file:
        try:
            with zipfile.ZipFile(file) as packed:
                inside = packed.namelist()
                found = [name for name in inside if PurePosixPath(name).name == "annotations.xml"]
                if len(found) != 1:
                    raise InputError(
                        f"{path}: expected one annotations.xml in it, got {listed(inside) or 'nothing'}; unpack "
                        "exports of other formats, into one folder per rater"
                    )
                about = packed.getinfo(found[0])
                size = min(about.compress_size, path.stat().st_size)  # the file may say more than it has
                check_unpacked(about.file_size, size, str(path))
                return parse_xml(path, packed.read(found[0]))
        except (zipfile.BadZipFile, RuntimeError, LookupError, struct.error) as error:
            raise InputError(f"{path}: expected a readable zip file, got {error}") from error


def _files(exports: object, rater_from: str) -> tuple[dict[str, Path], str, dict[str, str]]:
    """Return rater -> file, a name for all of them, and rater -> name of the file in messages."""
    if rater_from == "task" and isinstance(exports, (str, os.PathLike)) and os.path.isfile(exports):
        path = as_path(exports, "exports")
        return {path.stem: path}, path.name, {path.stem: path.name}
    if isinstance(exports, (str, os.PathLike)) and os.path.isfile(exports):
        raise InputError(
            f"{exports}: expected a folder of CVAT exports, one file per rater, or a mapping rater -> file; for a file "
            'of a project in which each annotator has a task pass rater_from="task"'
        )
    files, names = rater_files(exports, (".xml", ".zip"), "XML or zip files, or folders with an annotations.xml")
    return files, "CVAT exports" if isinstance(exports, Mapping) else as_path(exports, "exports").name, names


def _tasks(root: Element) -> dict[str, str]:
    """Return id -> name of each task of a project, or of a single task."""
    tasks = root.findall("meta/project/tasks/task") or root.findall("meta/task")
    found = [[(task.findtext(tag) or "").strip() for tag in ("id", "name")] for task in tasks]
    named = [name for _, name in found]
    return {key: name if name and named.count(name) == 1 else f"{name} task {key}".strip() for key, name in found}


def _label(element: Element) -> str:
    return (element.get("label") or "").strip()


@dataclass(frozen=True)
class _Video:
    """A file with tracks; its frames are images named ``name#frame``."""

    name: str
    rater: str
    frames: tuple[tuple[float, float], ...]

    def has(self, frame: int) -> bool:
        return not self.frames or any(first <= frame <= last for first, last in self.frames)


@dataclass
class _Reading:
    """Contents of the files read so far."""

    findings: Findings
    parts: Parts
    automatic: int = 0
    joints: dict[str, dict[str, None]] = field(default_factory=dict)
    inputs: dict[tuple[str, str], str] = field(default_factory=dict)
    videos: list[_Video] = field(default_factory=list)
    frames: dict[str, dict[int, str]] = field(default_factory=dict)
    sizes: dict[str, tuple[str, tuple[float, float]]] = field(default_factory=dict)

    @classmethod
    def of(cls, findings: Findings) -> _Reading:
        return cls(findings, Parts(findings))

    def declare(self, root: Element) -> Iterator[str]:
        """Yield the classes that an export declares, in order; record joints of skeletons and types of attributes."""
        for label in root.iterfind("meta//label"):
            name, parent = (label.findtext("name") or "").strip(), (label.findtext("parent") or "").strip()
            for entry in label.iterfind("attributes/attribute"):
                self.inputs[name, (entry.findtext("name") or "").strip()] = (entry.findtext("input_type") or "").strip()
            if name and parent:  # a joint is declared as a label that belongs to another
                self.joints.setdefault(parent, {})[name] = None
            elif name:
                yield name
        skeletons = [(_label(skeleton), skeleton) for skeleton in root.iterfind("image/skeleton")]
        for track in root.iterfind("track"):
            skeletons += [(_label(track), skeleton) for skeleton in track.iterfind("skeleton")]
        for label_name, skeleton in skeletons:
            names = [_label(point) for point in skeleton.iterfind("points")]
            self.joints.setdefault(label_name, {}).update(dict.fromkeys(name for name in names if name))

    def read(self, root: Element, name: str, rater: str, by_task: bool) -> None:
        """Read all images and tracks of a file; in a project, each task may be a rater."""
        tasks = _tasks(root)
        raters = list(tasks.values()) if by_task else [rater]
        self.findings.raters |= dict.fromkeys(raters)
        for image, record, who in self.images(root, name, rater, by_task):
            self._read_image(image, record, who, several=len(tasks) > 1 and not by_task)
        if root.find("track") is not None or root.find("image") is None:
            self._read_tracks(root, name, raters[0])

    def images(self, root: Element, name: str, rater: str, by_task: bool) -> Iterator[tuple[Element, str, str]]:
        """Yield the images of a file with their records and raters."""
        tasks = _tasks(root)
        if by_task and not tasks:
            raise InputError(f"{name}: expected a <task> in <meta> (rater_from='task'), got none")
        only = next(iter(tasks.values())) if by_task and len(tasks) == 1 else ""
        for number, image in enumerate(root.iterfind("image")):
            record = f"{name}, image {image.get('name') or number!r}"
            who = tasks.get(image.get("task_id") or "", only) if by_task else rater
            if who:
                yield image, record, who
            else:
                expected = f"a task_id among {listed(tasks, 10)}"
                self.findings.problems.add(record, expected, repr_of(image.get("task_id")))

    def _read_image(self, image: Element, record: str, rater: str, *, several: bool) -> None:
        findings = self.findings
        remedy = ' (rater_from="task" makes each task a rater)' if several else ""
        name = findings.own_image(record, image.get("name"), rater, f"a name, once in a file{remedy}")
        if name is None:
            return
        width, height = (as_float(image.get(side)) for side in ("width", "height"))
        if width is None or height is None:
            findings.problems.add(record, "a width and height", f"{image.get('width')!r} x {image.get('height')!r}")
        size = findings.size_from(width, height, record)
        findings.add_image(name, record, file=name, size=size)
        findings.assign(name, rater)
        for position, element in enumerate(image, start=1):
            if element.tag != "attribute":
                where = f"{record}, annotation {position} ({element.tag})"
                self._read_shape(element, where, name, rater, _label(element), size, element)

    def _read_tracks(self, root: Element, name: str, rater: str) -> None:
        """Read the shapes of each track into the images of their frames."""
        named = {image.get("id"): (image.get("name") or "").strip() for image in root.iterfind("image")}
        video = root.findtext("meta//source") or root.findtext("meta//task/name") or "video"
        ends = [[as_float(part.findtext(end)) for end in ("start", "stop")] for part in root.iterfind("meta//segment")]
        spans = tuple((first, last) for first, last in ends if first is not None and last is not None)
        self.videos.append(_Video(video.strip(), rater, spans))
        sides = [as_float(root.findtext(f"meta//original_size/{side}")) for side in ("width", "height")]
        size = self.findings.size_from(sides[0], sides[1], name)
        known = self.sizes.setdefault(video.strip(), (name, size))
        if known[1] != size and not np.isnan([*known[1], *size]).any():  # reported once, not for every frame
            expected = f"the size {known[1][0]:g} x {known[1][1]:g} of {known[0]}"
            self.findings.problems.add(name, expected, f"{size[0]:g} x {size[1]:g}")
            size = known[1]
        frames = self.frames.setdefault(video.strip(), {})
        for position, track in enumerate(root.iterfind("track")):
            for element in track:
                frame = element.get("frame") or ""
                where = f"{name}, track {track.get('id') or position}, frame {frame} ({element.tag})"
                if not frame.isdecimal() or len(frame) > LONGEST_FRAME:
                    self.findings.problems.add(where, "the number of a frame", repr_of(element.get("frame")))
                elif not _is_outside(element):
                    key = named.get(frame) or f"{video.strip()}#{int(frame)}"
                    if key not in named.values():
                        frames[int(frame)] = key
                        self.findings.add_image(key, where, file=key, size=size)
                        self.findings.assign(key, rater)
                    own_size = self.findings.sizes.get(key, UNKNOWN_SIZE)
                    self._read_shape(element, where, key, rater, _label(track), own_size, track)

    def assign_frames(self) -> None:
        """Assign each rater with a file of a video to its frames that any rater annotated."""
        for video in self.videos:
            for frame, image in sorted(self.frames[video.name].items()):
                if video.has(frame):
                    self.findings.assign(image, video.rater)

    def _read_shape(
        self, element: Element, where: str, image: str, rater: str, label: str, size: tuple[float, float], of: Element
    ) -> None:
        """Record the shape of an element; `of` has its group."""
        if element.tag in LEFT_OUT:
            self.findings.account.left_out[LEFT_OUT[element.tag]] += 1
            return
        with self.findings.annotation(where, image):
            if element.tag not in SHAPES:
                raise UnusableError(f"one of {', '.join([*SHAPES, *LEFT_OUT])}", f"<{element.tag}>")
            if not label:
                raise UnusableError("a label", "nothing")
            shape = SHAPES[element.tag](element, size, self.joints.get(label, {}))
            group = (of.get("group_id") or "").strip()
            self.automatic += of.get("source") == "auto"
            if element.tag == "cuboid":
                self.findings.account.note(CUBOIDS)
            own = self._attributes(element, label)
            part = Part(where, image, rater, label, None if group in ("", "0") else group, shape, own)
            self.parts.add(part, are_points=element.tag == "points")

    def _attributes(self, element: Element, label: str) -> dict[str, Any] | None:
        """Return attributes by name: checkboxes as booleans, numbers as numbers, others as text."""
        found: dict[str, Any] = {}
        for entry in element.iterfind("attribute"):
            name, text = (entry.get("name") or "").strip(), (entry.text or "").strip()
            kind = self.inputs.get((label, name))
            if name and text:
                number = as_float(text) if kind == "number" else None
                found[name] = text.lower() == "true" if kind == "checkbox" else text if number is None else number
        if element.get("occluded") == "1":
            found.setdefault("occluded", True)
        return found or None


def _is_outside(element: Element) -> bool:
    """Check whether a shape of a track is not visible in its frame."""
    joints = element.findall("points")
    return element.get("outside") == "1" or (bool(joints) and all(joint.get("outside") == "1" for joint in joints))


def _box(element: Element, _size: tuple[float, float], _joints: dict[str, None]) -> dict[str, Any]:
    left, top, right, bottom = numbers_in(element, "xtl", "ytl", "xbr", "ybr")
    return box_or_polygon([left, top, right - left, bottom - top], angle_in(element))


def _polygon(element: Element, _size: tuple[float, float], _joints: dict[str, None]) -> dict[str, Any]:
    return {"polygon": [_points(element)]}


def _ellipse(element: Element, _size: tuple[float, float], _joints: dict[str, None]) -> dict[str, Any]:
    x, y, radius_x, radius_y = numbers_in(element, "cx", "cy", "rx", "ry")
    return {"polygon": [ellipse(x, y, radius_x, radius_y, angle_in(element))]}


def _cuboid(element: Element, _size: tuple[float, float], _joints: dict[str, None]) -> dict[str, Any]:
    names = [f"{axis}{corner}{side}" for side in "12" for corner in ("tl", "bl", "tr", "br") for axis in "xy"]
    return {"polygon": [around(np.reshape(numbers_in(element, *names), (-1, 2)))]}


def around(points: NDArray[np.float64]) -> list[list[float]]:
    """Return the corners of the convex hull of points (N, 2), in their units.

    Raises
    ------
    UnusableError
        If the points are on a line.

    Examples
    --------
    >>> around(np.array([[0, 0], [4, 0], [2, 1], [4, 3]]))
    [[0.0, 0.0], [4.0, 3.0], [4.0, 0.0]]
    """
    hull = shapely.convex_hull(shapely.multipoints(points)) if np.isfinite(points).all() else None
    if not isinstance(hull, shapely.Polygon):
        raise UnusableError("corners that are not on a line", listed(str(point) for point in points.tolist()))
    return [list(corner) for corner in hull.exterior.coords[:-1]]


CUBOIDS = "cuboids are compared by the outline around their 8 corners"


def _mask(element: Element, size: tuple[float, float], _joints: dict[str, None]) -> dict[str, Any]:
    """Read runs of pixels off, on, off, ..., in row-major order within the mask's own box."""
    left, top, width, height = numbers_in(element, "left", "top", "width", "height")
    text = element.get("rle") or ""
    runs = [as_float(part) for part in text.split(",")]
    counts = np.array([np.nan if run is None else run for run in runs])
    whole = (counts >= 0) & (counts <= width * height) & (counts == np.rint(counts))
    if not (
        whole.all()
        and counts.sum() == width * height <= limit("KALOS_MOST_PIXELS")
        and width % 1 == height % 1 == 0 < height
    ):
        raise UnusableError(f"an rle of counts that sum to {width:g} x {height:g}", repr(text))
    on = np.repeat(np.arange(len(counts)) % 2 == 1, counts.astype(np.intp))
    return mask_at(on.reshape(int(height), int(width)), left, top, size)


def _keypoints(element: Element, _size: tuple[float, float], _joints: dict[str, None]) -> dict[str, Any]:
    return {"keypoints": [[x, y, 2] for x, y in _points(element)]}


def _skeleton(element: Element, _size: tuple[float, float], joints: dict[str, None]) -> dict[str, Any]:
    found: dict[str, list[float]] = {}
    for point in element.findall("points"):
        name = _label(point)
        points = _points(point)
        if not name or name in found or len(points) != 1:
            raise UnusableError(
                "joints of one point, each with a label of its own", f"{point.get('points')!r} of {name!r}"
            )
        visible = 0 if point.get("outside") == "1" else 1 if point.get("occluded") == "1" else 2
        found[name] = [*points[0], visible]
    if not found:
        raise UnusableError("joints", "none")
    return {"keypoints": [found.get(name, [0.0, 0.0, 0]) for name in joints]}


Shape = Callable[[Element, tuple[float, float], dict[str, None]], dict[str, Any]]
"""``shape(element, size of the image, joints of the class)`` -> the shape's field of a record."""

SHAPES: dict[str, Shape] = {
    "box": _box,
    "polygon": _polygon,
    "ellipse": _ellipse,
    "mask": _mask,
    "points": _keypoints,
    "skeleton": _skeleton,
    "cuboid": _cuboid,
}


def _points(element: Element) -> list[list[float]]:
    """Parse points ``x,y;x,y;...``."""
    text = element.get("points") or ""
    points = [[as_float(number) for number in point.split(",")] for point in text.split(";")]
    read = [[number for number in point if number is not None] for point in points]
    if not all(len(point) == 2 for point in read) or read != points:
        raise UnusableError("points x,y;x,y;...", repr(text))
    return read
