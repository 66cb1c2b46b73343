"""Reader of LIDC-IDRI: nodules that up to four radiologists outlined slice by slice in a CT scan.

The reading sessions of a scan are anonymous: session 1 is a different person in each scan. The raters are therefore
local to their scan (`Annotations.raters_are_local`).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations import Annotations
from kalos_core.annotations.shapes.faults import as_numbers
from kalos_core.errors import InputError, as_number, listed, repr_of, warn
from kalos_core.files import as_float, as_path, files_below, load_json, load_xml, open_file
from kalos_core.options import takes
from kalos_core.readers.findings import Findings, fields_of
from kalos_core.readers.settings import ReaderSettings, reading
from kalos_core.readers.shapes import UnusableError

NODULE = "nodule"

SLICE = (512, 512)
"""Width and height of every slice of LIDC-IDRI, in pixels; the XML does not contain it."""

MOST_SLICES = 10_000
"""Maximum number of slices in a scan, far more than in any real scan."""

SMALLEST_OUTLINE = 3
"""Minimum number of points of a contour that encloses a region; a finding without such a contour is a point."""


START = 4096
"""Number of bytes at the beginning of an XML file from which its type is detected."""

Fault = tuple[str, str, object]
"""Position in a scan, expected value, actual value."""

_Nodule = tuple[str, list[Any], dict[str, Any]]
"""Name, contours, and characteristics of a nodule."""


KINDS: dict[str, dict[float, str]] = {
    "calcification": dict(enumerate(["popcorn", "laminated", "solid", "non-central", "central", "absent"], start=1)),
    "internalStructure": dict(enumerate(["soft tissue", "fluid", "fat", "air"], start=1)),
}
"""Characteristics whose scores are categories, not grades (as defined for LIDC-IDRI) -> score -> name."""


@dataclass
class _Scan:
    """One scan with its metadata, and the contours of each nodule of each session.

    `faults` concern the whole scan, `broken` single nodules, which are left out of `sessions`.
    """

    series: str
    record: str
    file: str = ""
    size: tuple[Any, Any] = (None, None)
    spacing: float = np.nan
    positions: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    sessions: dict[int, list[_Nodule]] = field(default_factory=dict)
    points: int = 0
    faults: list[Fault] = field(default_factory=list)
    broken: list[Fault] = field(default_factory=list)

    def repeats(self, other: _Scan) -> bool:
        """Check whether another scan has the same content."""
        mine, yours = ((scan.sessions, scan.points, scan.broken, scan.faults) for scan in (self, other))
        return mine == yours and np.array_equal(self.positions, other.positions)


@takes(ReaderSettings)
@reading
def read_lidc(path: str | os.PathLike[str], settings: ReaderSettings) -> Annotations:
    """Read nodules of LIDC-IDRI scans, each a stack of contours.

    Parameters
    ----------
    path : path
        A study's XML (``LidcReadMessage``), a folder of them, searched at any depth, or a JSON file, optionally
        ``.gz``: ``{"scans": [...]}``, each scan with ``series_uid``, ``sessions`` (``session``, ``nodules``,
        ``small_nodules``, ``non_nodules``), ``slice_z`` and ``pixel_spacing`` in mm. XML files of radiographs in the
        public tree, and files that repeat a scan, are ignored and counted in a warning. With ``on_invalid="skip"``, so
        are faulty scans and files that cannot be read.

    Returns
    -------
    Annotations
        An image is a scan; its id is the series' UID, its file the path within the folder. Raters are "session 1",
        "session 2", ..., local to their scan. The only class is "nodule", the only shape a volume. A session without
        nodules is assigned and found none. Nodules under 3 mm and non-nodules are points; they are left out and counted
        in `skipped`. Scores of a nodule (malignancy, subtlety, texture and so on, from 1 to 5) are in `attributes`;
        calcification and internalStructure are categories, given by name (`KINDS`). XML has neither pixel spacing nor
        slices without annotations. Such slices are inserted between the annotated ones, at the smallest distance of two
        annotated slices.

    Warns
    -----
    KalosWarning
        If files of radiographs or repeats of a scan are ignored.

    Raises
    ------
    InputError
        If a file cannot be read or is not LIDC-IDRI (all files are checked before the first is parsed), two files of a
        scan differ, or a record is invalid.

    References
    ----------
    Armato et al., "The Lung Image Database Consortium (LIDC) and Image Database Resource Initiative (IDRI)", Medical
    Physics 38 (2011); the XML is described at https://www.cancerimagingarchive.net/collection/lidc-idri/

    Examples
    --------
    >>> import json, tempfile
    >>> contour = {"z": 2.5, "incl": 1, "pts": [[10, 10], [14, 10], [14, 13]]}
    >>> nodule = {"nodule_id": "Nodule 001", "contours": [contour]}
    >>> sessions = [{"session": 1, "nodules": [nodule]}, {"session": 2, "nodules": []}]
    >>> scan = {"series_uid": "1.2.3", "slice_z": [0.0, 2.5, 5.0], "pixel_spacing": 0.7, "sessions": sessions}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "scans.json"
    ...     _ = path.write_text(json.dumps({"scans": [scan]}))
    ...     annotations = read_lidc(path)
    >>> annotations, annotations.raters_are_local
    (Annotations(1 annotation of 2 raters on 1 image, 1 category, shapes: volume), True)
    """
    source = as_path(path, "path")
    findings = Findings(source.name, settings.on_invalid)
    passed: list[str] = []
    if os.path.isdir(source):
        files, passed = _files_of_scans(source, findings)
        scans: Iterable[_Scan] = _read_folder(source, files, passed, findings)
    elif {".json", ".gz"} & set(source.suffixes):
        scans = _read_json(source, findings)
    else:
        scans = [_read_xml(load_xml(source, "LIDC-IDRI file"), source, source.name)]
    findings.categories[NODULE] = None
    kept, repeats = _collect(scans, findings)
    _warn_of_passed(source.name, passed, repeats)
    return findings.build(
        raters_are_local=True,
        slice_positions=[scan.positions for scan in kept],
        pixel_spacing=[scan.spacing for scan in kept],
    )


def _collect(scans: Iterable[_Scan], findings: Findings) -> tuple[list[_Scan], list[str]]:
    """Record valid scans in `findings`; return them, and the records that repeat one of them."""
    kept: dict[str, _Scan] = {}
    repeats = []
    faults = findings.broken if findings.on_invalid == "skip" else findings.problems
    last = 0
    for scan in scans:
        known = kept.get(scan.series)
        if known is not None and scan.repeats(known):
            repeats.append(scan.record)
            continue
        if known is not None:
            actual = f"series {scan.series} a second time, with other sessions than in {known.record}"
            scan.faults = [("", "a scan of its own", actual)]
        for where, expected, there in scan.faults:
            faults.add(scan.record + where, expected, there)
        if scan.faults:
            continue
        kept[scan.series] = scan
        last = max([last, *scan.sessions])
        findings.raters = {_name(number): None for number in range(1, last + 1)}
        size = findings.size_from(*scan.size, scan.record)
        findings.add_image(scan.series, scan.record, file=scan.file, size=size)
        findings.skipped[scan.series] = scan.points
        for where, expected, there in scan.broken:
            findings.fault(scan.record + where, scan.series, expected, str(there))
        for number, nodules in scan.sessions.items():
            findings.assign(scan.series, _name(number))
            for name, contours, attributes in nodules:
                record = f"{scan.record}, session {number}, nodule {name!r}"
                findings.add_annotation(
                    record, scan.series, _name(number), NODULE, attributes=attributes, volume=contours
                )
    findings.problems.raise_if_any()
    if not kept:
        faults.raise_if_any()
        raise InputError(f"{findings.source}: expected at least one scan, got none")
    return list(kept.values()), repeats


def _warn_of_passed(source: str, radiographs: list[str], repeats: list[str]) -> None:
    parts = []
    if radiographs:
        parts.append(f"{len(radiographs):,} of radiographs ({listed(radiographs, 3)})")
    if repeats:
        parts.append(f"{len(repeats):,} that repeat the content of a scan ({listed(repeats, 3)})")
    if parts:
        text = f"{source}: files are ignored: {' and '.join(parts)}"
        warn(text)


def _name(session: int) -> str:
    return f"session {session}"


def _read_json(path: Path, findings: Findings) -> list[_Scan]:
    data = load_json(path, "LIDC-IDRI file")
    entries = data.get("scans") if isinstance(data, Mapping) else None
    if not isinstance(entries, list) or not entries:
        raise InputError(f"{path}: expected an object with a list 'scans', got {fields_of(data)}")
    scans = []
    for number, entry in enumerate(entries):
        record = f"scans[{number}]"
        series = entry.get("series_uid") if isinstance(entry, Mapping) else None
        if isinstance(series, str) and series:
            scans.append(_json_scan(entry, series, f"{record} (series {series})"))
        else:
            faults = findings.broken if findings.on_invalid == "skip" else findings.problems
            faults.add(record, "an object with a 'series_uid'", repr_of(entry))
    return scans


def _json_scan(entry: Mapping[str, Any], series: str, record: str) -> _Scan:
    scan = _Scan(
        series, record, file=str(entry.get("patient_id") or ""), size=(entry.get("width"), entry.get("height"))
    )
    spacing = entry.get("pixel_spacing")
    if spacing is not None:
        if 0 < (as_number(spacing) or 0) < np.inf:
            scan.spacing = float(spacing)
        else:
            scan.faults.append(("", "a positive 'pixel_spacing' in mm", repr_of(spacing)))
    positions = as_numbers(entry.get("slice_z", []))
    if positions is None or positions.ndim != 1 or not np.isfinite(positions).all():
        scan.faults.append(("", "a list 'slice_z' of positions in mm", repr_of(entry.get("slice_z"))))
    else:
        scan.positions = np.unique(positions)
    sessions = entry.get("sessions")
    if not isinstance(sessions, list):
        scan.faults.append(("", "a list 'sessions'", repr_of(sessions)))
        return scan
    for session in sessions:
        number = session.get("session") if isinstance(session, Mapping) else None
        if not isinstance(number, int) or isinstance(number, bool) or not 0 < number <= len(sessions):
            scan.faults.append(("", f"sessions numbered 1 to {len(sessions)}", repr_of(session)))
        elif number in scan.sessions:
            scan.faults.append(("", "sessions with numbers of their own", f"session {number} a second time"))
        else:
            scan.sessions[number] = _json_nodules(session, f", session {number}", scan)
            scan.points += sum(_length(session.get(kind)) for kind in ("small_nodules", "non_nodules"))
    return scan


def _json_nodules(session: Mapping[str, Any], where: str, scan: _Scan) -> list[_Nodule]:
    nodules = session.get("nodules")
    if not isinstance(nodules, list):
        scan.faults.append((where, "a list 'nodules'", repr_of(nodules)))
        return []
    found = []
    for position, nodule in enumerate(nodules):
        contours = nodule.get("contours") if isinstance(nodule, Mapping) else None
        if isinstance(contours, list):
            name, scores = str(nodule.get("nodule_id", position + 1)), nodule.get("chars")
            characteristics = _characteristics(scores) if isinstance(scores, Mapping) else {}
            found.append((name, [_json_contour(contour) for contour in contours], characteristics))
        else:
            scan.broken.append((f"{where}, nodules[{position}]", "an object with a list 'contours'", repr_of(nodule)))
    return found


def _characteristics(scores: Mapping[Any, Any]) -> dict[str, Any]:
    """Return positive scores, whole numbers as int and those of `KINDS` by name; 0 means not given."""
    numbers = {str(name): as_number(score) for name, score in scores.items()}
    return {
        name: KINDS.get(name, {}).get(number, int(number) if number == int(number) else number)
        for name, number in numbers.items()
        if number is not None and 0 < number < np.inf
    }


def _json_contour(contour: Any) -> Any:
    """Convert a contour to the form of all readers of volumes; invalid contours stay unchanged, to be reported."""
    if not isinstance(contour, Mapping):
        return contour
    included = contour.get("incl", 1)
    known = included in (0, 1)
    return {
        "z": contour.get("z"),
        "points": contour.get("pts"),
        "inclusion": bool(included) if known else included,
    }


def _length(value: object) -> int:
    return len(value) if isinstance(value, list) else 0


def _files_of_scans(folder: Path, findings: Findings) -> tuple[list[Path], list[str]]:
    """Return the XML files of scans in a folder, and the names of files of radiographs, by their beginnings."""
    scans, radiographs = [], []
    found = [path for path in files_below(folder) if path.suffix.lower() == ".xml"]
    for path in found:
        name = path.relative_to(folder).as_posix()
        try:
            with open_file(path, "LIDC-IDRI file", unpacked=False) as file:
                start = file.read(START)
        except InputError as error:
            start = str(error).encode()
        if b"IdriReadMessage" in start or b"<CXR" in start:
            radiographs.append(name)
        elif re.search(rb"<(\w+:)?LidcReadMessage", start):
            scans.append(path)
        elif findings.on_invalid == "skip":
            findings.broken.add(name, "XML that begins with <LidcReadMessage>", repr_of(start[:60]))
        else:
            _read_xml(load_xml(path, "LIDC-IDRI file"), path, name)  # raises a specific error
            scans.append(path)
    if not scans:
        raise InputError(f"{folder}: expected XML files of LIDC-IDRI scans, got {len(found):,} files, none of a scan")
    return scans, radiographs


def _read_folder(folder: Path, files: Iterable[Path], passed: list[str], findings: Findings) -> Iterable[_Scan]:
    """Yield the scans of the files; add the names of files of radiographs to `passed`."""
    for path in files:
        name = path.relative_to(folder).as_posix()
        try:
            root = load_xml(path, "LIDC-IDRI file")
            if root.find("readingSession") is None and root.find("ResponseHeader/SeriesInstanceUid") is None:
                passed.append(name)  # a radiograph with the root element of a scan
            else:
                yield _read_xml(root, path, name)
        except InputError as error:
            if findings.on_invalid != "skip":
                raise
            findings.broken.add(name, "a file of a scan", str(error))


def _read_xml(root: Element, path: Path, name: str) -> _Scan:
    series = (root.findtext("ResponseHeader/SeriesInstanceUid") or "").strip()
    if root.tag != "LidcReadMessage" or not series:
        actual = f"<{root.tag}>" if root.tag != "LidcReadMessage" else "none"
        raise InputError(f"{path}: expected <LidcReadMessage> with a SeriesInstanceUid in its header, got {actual}")
    scan = _Scan(series, name, file=name, size=SLICE)
    annotated = [
        as_float(z.text) for tag in ("roi", "nonNodule") for part in root.iter(tag) for z in part.iter("imageZposition")
    ]
    try:
        scan.positions = _filled([z for z in annotated if z is not None and np.isfinite(z)])
    except UnusableError as unusable:
        scan.faults.append(("", *unusable.args))
    for number, session in enumerate(root.findall("readingSession"), start=1):
        scan.sessions[number] = []
        scan.points += len(session.findall("nonNodule"))
        for position, nodule in enumerate(session.findall("unblindedReadNodule"), start=1):
            called = (nodule.findtext("noduleID") or str(position)).strip()
            try:
                contours = [_xml_contour(roi) for roi in nodule.findall("roi")]
            except UnusableError as unusable:
                scan.broken.append((f", session {number}, nodule {called!r}", *unusable.args))
                continue
            if any(len(contour["points"]) >= SMALLEST_OUTLINE for contour in contours):
                scores = nodule.find("characteristics")
                texts = {} if scores is None else {score.tag: as_float(score.text) for score in scores}
                scan.sessions[number].append((called, contours, _characteristics(texts)))
            else:
                scan.points += 1
    return scan


def _xml_contour(roi: Element) -> dict[str, Any]:
    z, included = roi.findtext("imageZposition"), (roi.findtext("inclusion") or "TRUE").strip().upper()
    points = [[as_float(point.findtext(name)) for name in ("xCoord", "yCoord")] for point in roi.findall("edgeMap")]
    if as_float(z) is None:
        raise UnusableError("a number as imageZposition", repr_of(z))
    if included not in ("TRUE", "FALSE"):
        raise UnusableError("TRUE or FALSE as inclusion", repr_of(included))
    if any(coordinate is None for point in points for coordinate in point):
        raise UnusableError("numbers as xCoord and yCoord", "others")
    return {"z": as_float(z), "points": points, "inclusion": included == "TRUE"}


def _filled(positions: list[float]) -> NDArray[np.float64]:
    """Return positions of the annotated slices, and of slices without annotations at the smallest distance."""
    annotated = np.unique(np.array(positions, dtype=np.float64))
    gaps = np.diff(annotated)
    if not len(gaps):
        return annotated
    if annotated[-1] - annotated[0] > MOST_SLICES * gaps.min():
        actual = f"z from {annotated[0]:g} to {annotated[-1]:g}, some only {gaps.min():g} apart"
        raise UnusableError(f"at most {MOST_SLICES:,} slices in a scan", actual)
    steps = np.rint(gaps / gaps.min()).astype(np.intp)
    inner = [low + gap / count * np.arange(count) for low, gap, count in zip(annotated, gaps, steps, strict=False)]
    return np.append(np.concatenate(inner), annotated[-1])
