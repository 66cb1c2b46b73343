"""CVAT's own XML, for images and for video: one export per annotator, or one of a project with a task per annotator."""

from __future__ import annotations

import os
import struct
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any, Literal
from xml.etree.ElementTree import Element

import numpy as np
import shapely
from numpy.typing import NDArray

from kalos_core.annotations import Annotations, OnInvalid, as_name
from kalos_core.arguments import check_arguments
from kalos_core.display import number_of
from kalos_core.errors import InputError, check_choice, listed, repr_of
from kalos_core.files import as_float, as_path, load_xml, open_file, parse_xml
from kalos_core.limits import check_limit
from kalos_core.nominal import LabelTable, OnEmpty, OnUnknown, RawLabels, build_table
from kalos_core.nominal.grouping import Groups
from kalos_core.readers.findings import UNKNOWN_SIZE, Findings, shapes_not_read
from kalos_core.readers.folders import WRAPPERS
from kalos_core.readers.groups import Grouped, Part, add_grouped
from kalos_core.readers.points import separate_points
from kalos_core.readers.shapes import MOST_PIXELS, UnusableError, ellipse, rotated, run_lengths

LEFT_OUT = {
    "tag": "tags, which `kalos-core labels` reads",
    "polyline": "polylines, which no similarity compares",
}
"""Elements of an image or a track that are no annotations of ours -> why."""

RaterFrom = Literal["file", "task"]
"""Whether each file is of a rater, or each task in it."""

ENDINGS = (".xml", ".zip")

LONGEST_FRAME = 9
"""Digits of the number of a frame."""


def read_cvat(
    exports: str | os.PathLike[str] | Mapping[str, str | os.PathLike[str]],
    *,
    rater_from: RaterFrom = "file",
    grouped: Grouped = "one",
    on_invalid: OnInvalid = "raise",
) -> Annotations:
    """Labels of several annotators from CVAT exports: "CVAT for images 1.1" or "CVAT for video 1.1".

    Parameters
    ----------
    exports : path or mapping
        A folder of XML files, the name of a file (without ``.xml``) being the rater's; or of folders that hold one
        file each, the name of the folder being the rater's; or a mapping rater -> file. A zip file with an
        ``annotations.xml`` serves as such a file. Images are matched by their name. A rater is assigned to the images
        their file lists, whether they annotated anything there or not.
    rater_from : "file" or "task"
        With "task", the raters are the tasks in the files, by their names: for the export of a project in which each
        annotator has a task. Then `exports` may also be a single file.
    grouped : "one" or "apart"
        Shapes of one group (``group_id``) and label: one object, as in CVAT's own exports to other formats, or one
        object each. Polygons, ellipses and boxes become one polygon of several rings, masks their union. The points of
        one annotation are the joints of one object, in their order, or one object each. They are one object each also
        where their number differs within a label; if at least 80 % of its annotations have one number of 3 or more,
        others are refused.
    on_invalid : "raise" or "skip"
        Annotations whose shape cannot be used: an error, or left out with a warning and counted in `skipped`.

    Returns
    -------
    Annotations
        Boxes (one that is rotated becomes a polygon), polygons, ellipses as polygons of 64 corners, cuboids as the
        polygon around their 8 corners, masks, and points and skeletons as keypoints, all in pixels. Joints of skeletons
        are in the order in which the first file names them; hidden ones count as labelled, those outside of the image
        do not. Attributes are kept, and that a shape is occluded is one.

        Each frame of a video in which anybody annotated something is an image, ``video.mp4#12``. Shapes are taken in
        the frames in which the file lists them (CVAT lists interpolated ones, too), except those marked as outside.

    Warns
    -----
    KalosWarning
        If tags or polylines are left out, or shapes of a group cannot be joined.

    Raises
    ------
    InputError
        If a file cannot be read or is another export, an image has two sizes, or a record cannot be used.

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
    check_arguments(read_cvat, locals())
    check_choice(rater_from, "rater_from", "file", "task")
    check_choice(grouped, "grouped", "one", "apart")
    files, source, names = _files(exports, rater_from)
    reading = _Reading(Findings(source, on_invalid))
    opened = {rater: _open(path) for rater, path in files.items()}
    order = dict.fromkeys(label for root in opened.values() for label in reading.declare(root))
    for rater, root in opened.items():
        reading.read(root, names[rater], rater, rater_from == "task")
    reading.assign_frames()
    parts = separate_points(reading.findings, reading.parts, reading.points, grouped)
    add_grouped(reading.findings, parts, grouped)
    if reading.automatic:
        made = number_of(reading.automatic, "shape was", "shapes were")
        reading.findings.account.notes.append(f"{made} made by a model (source auto) and count as the rater's")
    return reading.findings.build(order=order)


def read_cvat_tags(
    exports: str | os.PathLike[str] | Mapping[str, str | os.PathLike[str]],
    *,
    rater_from: RaterFrom = "file",
    groups: Groups = "label",
    concepts: Sequence[str] | None = None,
    on_empty: OnEmpty = "skip",
    on_unknown: OnUnknown = "raise",
) -> LabelTable:
    """Tags that annotators gave whole images, from CVAT exports.

    Parameters
    ----------
    exports, rater_from
        As in `read_cvat`.
    groups : str, mapping or None
        By default the tags exclude each other. None: an image may have several, each of which is a question of its own.
        Otherwise as in `LabelTable.from_rows`.
    concepts, on_unknown
        As in `read_long_labels`.
    on_empty : "raise", "none" or "skip"
        An image without a tag: an error, "looked and chose nothing", or no answer.

    Returns
    -------
    LabelTable
        Items are the names of the images.

    Raises
    ------
    InputError
        As `read_cvat`; if there is no tag, or an image has several tags though they exclude each other.

    Examples
    --------
    >>> image = '<image id="0" name="a.jpg" width="20" height="10"><tag label="{}"/></image>'
    >>> for rater, tag in {"ann": "sharp", "bob": "blurred"}.items():
    ...     Path("tags").mkdir(exist_ok=True)
    ...     _ = Path("tags", f"{rater}.xml").write_text(f"<annotations>{image.format(tag)}</annotations>")
    >>> read_cvat_tags("tags").values().tolist()
    [[0, 1]]
    """
    check_arguments(read_cvat_tags, locals())
    check_choice(rater_from, "rater_from", "file", "task")
    files, source, names = _files(exports, rater_from)
    reading = _Reading(Findings(source))
    raw, records, shapes = RawLabels(), [], 0
    for rater, path in files.items():
        for image, record, who in reading.images(_open(path), names[rater], rater, rater_from == "task"):
            labels = [_label(tag) for tag in image.iterfind("tag")]
            shapes += sum(element.tag in SHAPES for element in image)
            if isinstance(groups, str) and len(labels) > 1:
                expected = "one tag (groups=None makes each tag a question of its own)"
                reading.findings.problems.add(record, expected, listed(labels))
            raw.item.append((image.get("name") or "").strip() or None)
            raw.rater.append(who)
            raw.label.append([label for label in labels if label] or None)
            raw.time.append(None)
            records.append(record)
    reading.findings.problems.raise_if_any()
    if not any(raw.label):
        raise InputError(f"{source}: expected tags of images, got none")
    reading.findings.account.notes += shapes_not_read(shapes)
    return build_table(
        raw,
        source=source,
        groups=groups,
        concepts=concepts,
        on_empty=on_empty,
        on_unknown=on_unknown,
        describe=records.__getitem__,
        account=reading.findings.account,
    )


def _open(path: Path) -> Element:
    root = _unpacked(path) if path.suffix.lower() == ".zip" else load_xml(path, "CVAT export")
    video = root.find("track") is not None or (root.findtext("meta//mode") or "").strip() == "interpolation"
    if root.tag != "annotations" or (root.find("image") is None and not video):
        expected = "an export in the format 'CVAT for images 1.1' or 'CVAT for video 1.1'"
        raise InputError(f"{path}: expected {expected}, got <{root.tag}> without images and tracks")
    if root.find("track") is not None and len(_tasks(root)) > 1:
        raise InputError(
            f"{path}: expected the tracks of one task, got those of {len(_tasks(root))} tasks, whose frames have no "
            "numbers of their own; export each task"
        )
    return root


def _unpacked(path: Path) -> Element:
    """The root of the annotations.xml in a zip file."""
    with open_file(path, "zip file", unpacked=False) as file:
        try:
            with zipfile.ZipFile(file) as packed:
                inside = packed.namelist()
                found = [name for name in inside if PurePosixPath(name).name == "annotations.xml"]
                if len(found) != 1:
                    raise InputError(
                        f"{path}: expected one annotations.xml in it, got {listed(inside) or 'nothing'}; unpack "
                        "exports of other formats, into a folder a rater"
                    )
                check_limit("KALOS_MOST_UNPACKED", packed.getinfo(found[0]).file_size, str(path))
                return parse_xml(path, packed.read(found[0]))
        except (zipfile.BadZipFile, RuntimeError, LookupError, struct.error) as error:
            raise InputError(f"{path}: expected a readable zip file, got {error}") from error


def _files(exports: object, rater_from: str) -> tuple[dict[str, Path], str, dict[str, str]]:
    """Rater -> file, what to call them together, and rater -> the name of the file in messages."""
    if isinstance(exports, Mapping):
        raters = [as_name(rater) for rater in exports]
        if not raters or not all(isinstance(name, str) for name in raters):
            raise InputError(f"exports: expected a mapping of raters' names to files, got {repr_of(exports)}")
        paths = [as_path(path, f"exports[{name!r}]") for name, path in zip(raters, exports.values(), strict=True)]
        unique = len({path.name for path in paths}) == len(paths)
        names = {rater: path.name if unique else str(path) for rater, path in zip(raters, paths, strict=True)}
        return dict(zip(raters, paths, strict=True)), "CVAT exports", names
    folder = as_path(exports, "exports", "a folder, or a mapping rater -> file")
    if os.path.isfile(folder) and rater_from == "task":
        return {folder.stem: folder}, folder.name, {folder.stem: folder.name}
    if not os.path.isdir(folder):
        one = '; for a file of a project in which each annotator has a task pass rater_from="task"'
        raise InputError(
            f"{folder}: expected a folder of CVAT exports, one file per rater, or a mapping rater -> file"
            f"{one if os.path.isfile(folder) else ''}"
        )
    found = [path for path in sorted(folder.iterdir()) if path.suffix.lower() in ENDINGS]
    inside = [path for path in sorted(folder.glob("*/*")) if path.suffix.lower() in ENDINGS]
    files: dict[str, Path] = {}
    for path in [*found, *inside]:
        rater = path.stem if path in found or WRAPPERS.fullmatch(path.parent.name) else path.parent.name
        if rater in files:
            both = f"{files[rater].relative_to(folder)} and {path.relative_to(folder)}"
            raise InputError(f"{folder}: expected one file of rater {rater!r}, got {both}")
        files[rater] = path
    if not files:
        raise InputError(
            f"{folder}: expected XML or zip files, or folders with an annotations.xml, one per rater, got none"
        )
    return files, folder.name, {rater: path.relative_to(folder).as_posix() for rater, path in files.items()}


def _tasks(root: Element) -> dict[str, str]:
    """Id -> name of each task of a project, or of the one task."""
    tasks = root.findall("meta/project/tasks/task") or root.findall("meta/task")
    found = [[(task.findtext(tag) or "").strip() for tag in ("id", "name")] for task in tasks]
    named = [name for _, name in found]
    return {key: name if name and named.count(name) == 1 else f"{name} task {key}".strip() for key, name in found}


def _label(element: Element) -> str:
    return (element.get("label") or "").strip()


@dataclass(frozen=True)
class _Video:
    """A file with tracks: its frames are images of the name ``name#frame``."""

    name: str
    rater: str
    frames: tuple[tuple[float, float], ...]

    def has(self, frame: int) -> bool:
        return not self.frames or any(first <= frame <= last for first, last in self.frames)


@dataclass
class _Reading:
    """What was found so far in all files."""

    findings: Findings
    parts: list[Part] = field(default_factory=list)
    points: set[int] = field(default_factory=set)
    automatic: int = 0
    joints: dict[str, dict[str, None]] = field(default_factory=dict)
    inputs: dict[tuple[str, str], str] = field(default_factory=dict)
    videos: list[_Video] = field(default_factory=list)
    frames: dict[str, dict[int, str]] = field(default_factory=dict)
    sizes: dict[str, tuple[str, tuple[float, float]]] = field(default_factory=dict)

    def declare(self, root: Element) -> Iterator[str]:
        """Classes that an export declares, in order; notes the joints of skeletons and the kinds of attributes."""
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
        """All images and tracks of a file; of a project, each task may be a rater."""
        tasks = _tasks(root)
        raters = list(tasks.values()) if by_task else [rater]
        self.findings.raters |= dict.fromkeys(raters)
        for image, record, who in self.images(root, name, rater, by_task):
            self._read_image(image, record, who, several=len(tasks) > 1 and not by_task)
        if root.find("track") is not None or root.find("image") is None:
            self._read_tracks(root, name, raters[0])

    def images(self, root: Element, name: str, rater: str, by_task: bool) -> Iterator[tuple[Element, str, str]]:
        """Images of a file, their records and their raters."""
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
        name = (image.get("name") or "").strip()
        if not name:
            findings.problems.add(record, "a name", "nothing")
            return
        if rater in findings.assigned.get(name, ()):
            remedy = ' (rater_from="task" makes each task a rater)' if several else ""
            findings.problems.add(record, f"an image once in a file{remedy}", "it a second time")
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
        """The shapes of each track, each in the image that is its frame."""
        named = {image.get("id"): (image.get("name") or "").strip() for image in root.iterfind("image")}
        video = root.findtext("meta//source") or root.findtext("meta//task/name") or "video"
        ends = [[as_float(part.findtext(end)) for end in ("start", "stop")] for part in root.iterfind("meta//segment")]
        spans = tuple((first, last) for first, last in ends if first is not None and last is not None)
        self.videos.append(_Video(video.strip(), rater, spans))
        sides = [as_float(root.findtext(f"meta//original_size/{side}")) for side in ("width", "height")]
        size = self.findings.size_from(sides[0], sides[1], name)
        known = self.sizes.setdefault(video.strip(), (name, size))
        if known[1] != size and not np.isnan([*known[1], *size]).any():  # said once, not of every frame
            expected = f"the size {known[1][0]:g} x {known[1][1]:g} that {known[0]} says"
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
        """Assign whoever has a file of a video to the frames of it that anybody annotated."""
        for video in self.videos:
            for frame, image in sorted(self.frames[video.name].items()):
                if video.has(frame):
                    self.findings.assign(image, video.rater)

    def _read_shape(
        self, element: Element, where: str, image: str, rater: str, label: str, size: tuple[float, float], of: Element
    ) -> None:
        """Note the shape of an element; `of` has its group."""
        if element.tag in LEFT_OUT:
            self.findings.account.left_out[LEFT_OUT[element.tag]] += 1
            return
        try:
            if element.tag not in SHAPES:
                raise UnusableError(f"one of {', '.join([*SHAPES, *LEFT_OUT])}", f"<{element.tag}>")
            if not label:
                raise UnusableError("a label", "nothing")
            shape = SHAPES[element.tag](element, size, self.joints.get(label, {}))
        except UnusableError as unusable:
            self.findings.fault(where, image, *unusable.args)
        else:
            group = (of.get("group_id") or "").strip()
            own = self._attributes(element, label)
            self.automatic += of.get("source") == "auto"
            if element.tag == "points":
                self.points.add(len(self.parts))
            if element.tag == "cuboid" and CUBOIDS not in self.findings.account.notes:
                self.findings.account.notes.append(CUBOIDS)
            self.parts.append(Part(where, image, rater, label, group if group not in ("", "0") else None, shape, own))

    def _attributes(self, element: Element, label: str) -> dict[str, Any] | None:
        """Attributes by name: of checkboxes truth values, of numbers numbers."""
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
    """Whether a shape of a track is not to be seen in its frame."""
    joints = element.findall("points")
    return element.get("outside") == "1" or (bool(joints) and all(joint.get("outside") == "1" for joint in joints))


def _box(element: Element, _size: tuple[float, float], _joints: dict[str, None]) -> dict[str, Any]:
    left, top, right, bottom = _numbers(element, "xtl", "ytl", "xbr", "ybr")
    angle = _angle(element)
    if not angle % 360:
        return {"box": [left, top, right - left, bottom - top]}
    return {"polygon": [rotated((left, top, right, bottom), angle, ((left + right) / 2, (top + bottom) / 2))]}


def _polygon(element: Element, _size: tuple[float, float], _joints: dict[str, None]) -> dict[str, Any]:
    return {"polygon": [_points(element)]}


def _ellipse(element: Element, _size: tuple[float, float], _joints: dict[str, None]) -> dict[str, Any]:
    x, y, radius_x, radius_y = _numbers(element, "cx", "cy", "rx", "ry")
    return {"polygon": [ellipse(x, y, radius_x, radius_y, _angle(element))]}


def _cuboid(element: Element, _size: tuple[float, float], _joints: dict[str, None]) -> dict[str, Any]:
    names = [f"{axis}{corner}{side}" for side in "12" for corner in ("tl", "bl", "tr", "br") for axis in "xy"]
    return {"polygon": [around(np.reshape(_numbers(element, *names), (-1, 2)))]}


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
    """Runs of pixels off, on, off, ... row by row within the mask's own box."""
    position = np.array(_numbers(element, "left", "top", "width", "height"))
    outside = (position[:2] < 0).any() or (position[2:] < 1).any() or (position[:2] + position[2:] > size).any()
    if not (position == np.rint(position)).all() or outside or np.isnan(size).any() or np.prod(size) > MOST_PIXELS:
        expected = f"a left, top, width and height in whole pixels inside of {size[0]:g} x {size[1]:g}"
        raise UnusableError(expected, ", ".join(f"{number:g}" for number in position))
    left, top, width, height = position.astype(np.intp).tolist()
    text = element.get("rle") or ""
    runs = [as_float(part) for part in text.split(",")]
    counts = np.array([np.nan if run is None else run for run in runs])
    whole = (counts >= 0) & (counts <= width * height) & (counts == np.rint(counts))
    if not whole.all() or counts.sum() != width * height:
        raise UnusableError(f"an rle of counts that sum to {width} x {height}", repr(text))
    on = np.repeat(np.arange(len(counts)) % 2 == 1, counts.astype(np.intp))
    canvas = np.zeros((int(size[1]), int(size[0])), np.bool_)
    canvas[top : top + height, left : left + width] = on.reshape(height, width)
    return {"mask": run_lengths(canvas)}


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


def _angle(element: Element) -> float:
    return _numbers(element, "rotation")[0] if element.get("rotation") else 0.0


def _numbers(element: Element, *names: str) -> list[float]:
    values = [as_float(element.get(name)) for name in names]
    numbers = [value for value in values if value is not None]
    if len(numbers) < len(names):
        raise UnusableError(f"numbers in {', '.join(names)}", ", ".join(repr(element.get(name)) for name in names))
    return numbers


def _points(element: Element) -> list[list[float]]:
    """``x,y;x,y;...`` as points."""
    text = element.get("points") or ""
    points = [[as_float(number) for number in point.split(",")] for point in text.split(";")]
    read = [[number for number in point if number is not None] for point in points]
    if not all(len(point) == 2 for point in read) or read != points:
        raise UnusableError("points x,y;x,y;...", repr(text))
    return read
