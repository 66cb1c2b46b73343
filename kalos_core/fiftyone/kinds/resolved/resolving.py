"""Resolution of labels: of objects (result `Resolved`) and of images (result `ResolvedLabels`)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from io import StringIO
from itertools import pairwise
from pathlib import Path
from typing import Any

import fiftyone as fo
import numpy as np
from bson import ObjectId
from numpy.typing import NDArray

from kalos_core._agreement import Agreement
from kalos_core.annotations import object_array
from kalos_core.arrays import by_item, run_starts
from kalos_core.decisions import Decision, Resolved, ResolvedLabels, disputed_answers, resolve, resolve_labels
from kalos_core.decisions.decision import Undecided
from kalos_core.fiftyone.dataset.database import FieldArguments, files_of, label_field
from kalos_core.fiftyone.dataset.encoding import LABEL_TYPES, Document, Rows, choose_label_type
from kalos_core.fiftyone.dataset.raters import DECIDED, ESTIMATED
from kalos_core.fiftyone.deciding.units import MatchedUnits
from kalos_core.fiftyone.kinds import labelled, matched
from kalos_core.fiftyone.kinds.columns import columns_of, made_from
from kalos_core.fiftyone.runs.arrays import as_texts, text_array
from kalos_core.fiftyone.runs.keys import RunNames
from kalos_core.fiftyone.runs.table import Arrays, Read, Run
from kalos_core.files import write_whole
from kalos_core.nominal import LabelFindings
from kalos_core.readers import write_coco
from kalos_core.text import write_csv

AnyRun = Run[Any, Any, Any, Any]
Documents = Iterable[tuple[str, Mapping[str, Any]]]

OWN = "resolved/"
"""Prefix of the names of the arrays of a result."""


class Resolving(ABC):
    """Methods to resolve, write, store and export the labels of a kind of run; `found` is the result of the run."""

    ENDING = "json"
    """Extension of an exported file."""

    @abstractmethod
    def fits(self, about: AnyRun, found: Any, decisions: Sequence[Decision]) -> list[bool]:
        """Return whether each decision is about labels that still form the same unit in dispute."""

    @abstractmethod
    def resolve(self, about: AnyRun, found: Any, decisions: Sequence[Decision], undecided: Undecided) -> Any:
        """Resolve the labels."""

    @abstractmethod
    def read(self, view: Any, run: AnyRun) -> Read:
        """Read the labels to resolve."""

    @abstractmethod
    def settings(self, about: AnyRun) -> dict[str, Any]:
        """Return the settings of the agreement run that are stored to read its labels again."""

    @abstractmethod
    def fields(self, result: Any, field: str, about: AnyRun) -> dict[str, FieldArguments]:
        """Declare the field and the attributes of its labels."""

    @abstractmethod
    def documents(self, result: Any, field: str, about: AnyRun, found: Any) -> Documents:
        """Iterate over sample ids with the documents to write."""

    @abstractmethod
    def arrays(self, result: Any) -> dict[str, NDArray[Any]]:
        """Return the arrays that `restored` reads."""

    @abstractmethod
    def restored(self, arrays: Arrays) -> Any:
        """Return the stored result."""

    @abstractmethod
    def names(self, result: Any) -> list[str]:
        """Return the class of each label."""

    @abstractmethod
    def open(self, result: Any) -> int:
        """Return the number of undecided disputes."""

    @abstractmethod
    def export(self, samples: Any, result: Any, path: Path, overwrite: bool) -> Path:
        """Write a file, completely or not at all."""


class _OfObjects(Resolving):
    def fits(self, about: AnyRun, found: Agreement, decisions: Sequence[Decision]) -> list[bool]:  # noqa: ARG002
        units = MatchedUnits.of_run(found)
        return [units.are_units([str(key) for key in one.labels]) for one in decisions]

    def resolve(self, about: AnyRun, found: Agreement, decisions: Sequence[Decision], undecided: Undecided) -> Resolved:  # noqa: ARG002
        return resolve(found, decisions, undecided)

    def read(self, view: Any, run: AnyRun) -> Read:
        return matched.read_compared(view, run)

    def settings(self, about: AnyRun) -> dict[str, Any]:
        return {"similarity": about.settings["similarity"]}

    def fields(self, result: Resolved, field: str, about: AnyRun) -> dict[str, FieldArguments]:
        names, table = RunNames(field), result.annotations
        kind = choose_label_type(table, "auto") if len(table) else LABEL_TYPES["detections"]
        own = names.declared(names.main, names.match, names.raters, names.note, names.who)
        return kind.declared(field, f"Resolved from the agreement {about.key!r}", {ESTIMATED: field}, own)

    def documents(self, result: Resolved, field: str, about: AnyRun, found: Agreement) -> Documents:  # noqa: ARG002
        sizes = result.annotations.image_size  # with unknown sizes, coordinates are already relative
        table = replace(result.annotations, image_size=np.where(np.isnan(sizes), 1.0, sizes))
        kind = choose_label_type(table, "auto") if len(table) else LABEL_TYPES["detections"]
        names, raters = RunNames(field), found.annotations.raters.tolist()
        rater_of = dict(zip(found.annotations.id.tolist(), found.annotations.rater.tolist(), strict=True))

        def attributes(rows: Rows) -> dict[str, list[Any]]:
            sources = [list(result.sources[row]) for row in rows.tolist()]
            whose = [[raters[code] for code in dict.fromkeys(rater_of[key] for key in keys)] for keys in sources]
            return {
                names.main: result.origin[rows].tolist(),
                names.match: sources,
                names.raters: whose,
                names.note: result.note[rows].tolist(),
                names.who: result.who[rows].tolist(),
            }

        written: Iterator[dict[str, Document]] = kind.fields(table, [field], attributes)
        return zip(table.images.tolist(), written, strict=True)

    def arrays(self, result: Resolved) -> dict[str, NDArray[Any]]:
        return {
            **matched.table_arrays(result.annotations),
            **columns_of(result, OWN, but=("annotations",)),
            **_nested("sources", result.sources),
        }

    def restored(self, arrays: Arrays) -> Resolved:
        sources = _unnested("sources", arrays)
        return made_from(Resolved, arrays, OWN, annotations=matched.stored_table(arrays), sources=sources)

    def names(self, result: Resolved) -> list[str]:
        found: list[str] = result.annotations.categories[result.annotations.category].tolist()
        return found

    def open(self, result: Resolved) -> int:
        return len(result.open_units)

    def export(self, samples: Any, result: Resolved, path: Path, overwrite: bool) -> Path:  # noqa: ARG002 - files are known
        return write_coco(result.annotations, path, result.fields(), overwrite=overwrite)


class _OfImageLabels(Resolving):
    ENDING = "csv"

    def fits(self, about: AnyRun, found: LabelFindings, decisions: Sequence[Decision]) -> list[bool]:
        known = {one.id for one in disputed_answers(found.disputes, about.settings["quorum"])}
        return [known.issuperset(map(str, one.labels)) for one in decisions]

    def resolve(
        self, about: AnyRun, found: LabelFindings, decisions: Sequence[Decision], undecided: Undecided
    ) -> ResolvedLabels:
        return resolve_labels(found.disputes, decisions, undecided, about.settings["quorum"])

    def read(self, view: Any, run: AnyRun) -> Read:
        return labelled.read_compared(view, run)

    def settings(self, about: AnyRun) -> dict[str, Any]:
        return {name: about.settings[name] for name in ("groups", "on_repeat")}

    def fields(self, result: ResolvedLabels, field: str, about: AnyRun) -> dict[str, FieldArguments]:  # noqa: ARG002
        names, several = RunNames(field), not isinstance(about.settings["groups"], str)
        text = f"Resolved from the image-level labels of the run {about.key!r}"
        document = fo.Classifications if several else fo.Classification
        path = f"{field}.classifications" if several else field
        own = names.declared(names.main, names.raters, names.note, names.who)
        declared = label_field(document, text, {ESTIMATED: field, DECIDED: field})
        return {field: declared} | {f"{path}.{name}": how for name, how in own.items()}

    def documents(self, result: ResolvedLabels, field: str, about: AnyRun, found: LabelFindings) -> Documents:
        names, several = RunNames(field), not isinstance(about.settings["groups"], str)
        columns = (result.origin, result.note, result.who)
        labels = [
            {
                "_id": ObjectId(),
                "_cls": "Classification",
                "tags": [],
                "label": str(result.concepts[code]),
                names.main: origin,
                names.raters: list(raters),
                names.note: note,
                names.who: who,
            }
            for code, raters, origin, note, who in zip(result.concept.tolist(), result.raters, *columns, strict=True)
        ]
        answered = np.isin(np.arange(len(result.items)), found.table.item).tolist()
        of_items = by_item(result.item, object_array(labels), len(result.items))
        for image, of, is_known in zip(result.items.tolist(), of_items, answered, strict=True):
            one = {"_cls": "Classifications", "classifications": of} if several else next(iter(of), None)
            yield image, {field: one if is_known else None}

    def arrays(self, result: ResolvedLabels) -> dict[str, NDArray[Any]]:
        return {
            **columns_of(result, OWN, but=("items", "concepts", "raters")),
            "items": text_array(result.items.tolist()),
            "concepts": text_array(result.concepts.tolist()),
            **_nested("raters", result.raters),
        }

    def restored(self, arrays: Arrays) -> ResolvedLabels:
        known = {name: object_array(as_texts(arrays[name])) for name in ("items", "concepts")}
        return made_from(ResolvedLabels, arrays, OWN, **known, raters=_unnested("raters", arrays))

    def names(self, result: ResolvedLabels) -> list[str]:
        found: list[str] = result.concepts[result.concept].tolist()
        return found

    def open(self, result: ResolvedLabels) -> int:
        return result.left_open

    def export(self, samples: Any, result: ResolvedLabels, path: Path, overwrite: bool) -> Path:
        files = files_of(samples, result.items.tolist())
        names = [Path(files.get(key, key)).name for key in result.items.tolist()]
        if len(set(names)) < len(names):  # in several folders
            names = [files.get(key, key) for key in result.items.tolist()]
        text = StringIO()
        write_csv(replace(result, items=object_array(names)).to_pandas(), text)
        head, _, _ = text.getvalue().partition("\n")
        write_whole(path, text.getvalue(), f"{head}\n", overwrite=overwrite)
        return path


RESOLVING: Mapping[str, Resolving] = {"agreement": _OfObjects(), "image_labels": _OfImageLabels()}
"""Kind of run -> methods to resolve its labels."""


def resolving_of(run: AnyRun) -> Resolving:
    """Return the methods that resolved the labels of a run."""
    return RESOLVING[run.settings["of"]]


def origins_by_class(origins: Sequence[str], names: Sequence[str]) -> dict[str, dict[str, int]]:
    """Return origin -> class -> number of labels, most frequent first.

    Examples
    --------
    >>> origins_by_class(["agreed", "take", "agreed"], ["cat", "cat", "cat"])
    {'agreed': {'cat': 2}, 'take': {'cat': 1}}
    """
    found: dict[str, dict[str, int]] = {}
    for (origin, name), count in Counter(zip(origins, names, strict=True)).most_common():
        found.setdefault(origin, {})[name] = count
    return found


def _nested(name: str, lists: Sequence[Sequence[str]]) -> dict[str, NDArray[Any]]:
    """Convert lists of texts to two arrays."""
    counts = np.array([len(of) for of in lists], dtype=np.intp)
    return {name: text_array([text for of in lists for text in of]), f"{name}_counts": counts}


def _unnested(name: str, arrays: Arrays) -> tuple[tuple[str, ...], ...]:
    texts = as_texts(arrays[name])
    ends = run_starts(arrays[f"{name}_counts"]).tolist()
    return tuple(tuple(texts[begin:end]) for begin, end in pairwise(ends))
