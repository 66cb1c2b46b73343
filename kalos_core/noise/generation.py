"""Synthetic raters generated from a reference, with the events that changed its annotations (KαLOS §9.4)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations import Annotations, as_name
from kalos_core.errors import InputError, as_number, check_whole, listed, repr_of
from kalos_core.noise.draft import Columns, Draft
from kalos_core.noise.events import EVENTS, OUTCOMES, STAGE_OF_EVENT, STAGES, Events
from kalos_core.noise.generated import GeneratedRaters
from kalos_core.noise.moving import Origins, build_shapes
from kalos_core.noise.parameters import NoiseParameters
from kalos_core.noise.reference import cast_of, prepare_reference
from kalos_core.noise.scene import Scene
from kalos_core.noise.settings import GenerationSettings
from kalos_core.noise.sources import (
    ClassSource,
    ConfusionClasses,
    FalsePositiveSource,
    Proposals,
    Transitions,
    TransplantedFalsePositives,
)
from kalos_core.noise.stages.category import mistake_categories
from kalos_core.noise.stages.localization import shift_rest
from kalos_core.noise.stages.topology import split_and_merge
from kalos_core.noise.stages.unmatched import miss_and_add

PROPOSALS, RATERS, SCHOOLS = range(3)
"""Streams of random numbers: one for the proposals, one for each rater, one for each school."""


def generate_raters(
    parameters: NoiseParameters, annotations: Annotations, settings: GenerationSettings
) -> GeneratedRaters:
    """Generate raters who differ from a reference as the parameters describe; see `NoiseModel.generate`."""
    names, seed = _names(settings.raters), settings.seed
    lambdas = _magnitudes(settings.magnitude, len(names), "magnitude", "rater")
    sizes = _school_sizes(settings.schools, len(names))
    table = prepare_reference(annotations, settings.reference, len(sizes))
    class_source, false_positive_source = settings.class_source, settings.false_positive_source
    class_source = ConfusionClasses.of(annotations) if class_source is None else class_source
    false_positive_source = TransplantedFalsePositives() if false_positive_source is None else false_positive_source
    proposals = false_positive_source.propose(
        table, np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(PROPOSALS,)))
    )
    seen = np.bincount(annotations.image, minlength=len(annotations.images)) > 0
    generation = _Generation(parameters, seed, class_source, false_positive_source, proposals, len(table), seen)
    taught = None
    if len(sizes) > len(table.raters):
        titles = [f"school {number + 1}" for number in range(len(sizes))]
        theirs = _magnitudes(settings.school_magnitude, len(sizes), "school_magnitude", "school")
        taught = generation.raters_of(table, np.zeros(len(sizes), np.intp), titles, theirs, SCHOOLS, None)
    taught_by = np.repeat(np.arange(len(sizes)), sizes)
    taught_from = table if taught is None else taught.annotations
    return generation.raters_of(taught_from, taught_by, names, lambdas, RATERS, taught)


@dataclass(frozen=True, eq=False)
class _Generation:
    """Parts that all raters of a call share: number of original `objects`, `seen` (I,) images with any annotation."""

    parameters: NoiseParameters
    seed: int
    class_source: ClassSource
    false_positive_source: FalsePositiveSource
    proposals: Proposals
    objects: int
    seen: NDArray[np.bool_]

    def raters_of(
        self,
        reference: Annotations,
        reference_rater: NDArray[np.intp],
        names: list[str],
        magnitude: NDArray[np.float64],
        stream: int,
        schools: GeneratedRaters | None,
    ) -> GeneratedRaters:
        """Generate all raters, each from its rater of the reference."""
        rows = {code: np.flatnonzero(reference.rater == code) for code in np.unique(reference_rater).tolist()}
        scenes = {code: self._scene(reference, code, rows[code]) for code in rows}
        overlap, coupling = self.parameters.localization.overlap.least, self.parameters.localization.coupling.share
        all_annotations: list[Columns] = []
        all_events: list[Columns] = []
        for number, code in enumerate(reference_rater.tolist()):
            rng = np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(stream, number)))
            own, happened = self._generate_one(Draft(scenes[code], float(magnitude[number]), rng, overlap, coupling))
            begin = sum(len(part["rater"]) for part in all_annotations)
            all_annotations.append(_refer(own, number, {"source": rows[code], "partner": rows[code]}))
            new_rows = np.arange(begin, begin + len(own["source"]))
            indices = {"reference_a": rows[code], "reference_b": rows[code], "row_a": new_rows, "row_b": new_rows}
            all_events.append(_refer(happened, number, indices))
        annotations = _together(all_annotations)
        made = self._table(reference, reference_rater, names, annotations)
        of_reference = np.arange(len(reference))[:, None] if schools is None else schools.object
        return GeneratedRaters(
            annotations=made,
            object=_objects(annotations, of_reference, self.objects),
            events=_events(made, reference, _together(all_events)),
            reference=reference,
            reference_rater=reference_rater,
            schools=schools,
            magnitude=magnitude,
            seed=self.seed,
            class_source=self.class_source.name,
            false_positive_source=self.false_positive_source.name,
        )

    def _scene(self, reference: Annotations, code: int, rows: NDArray[np.intp]) -> Scene:
        limits = reference.assigned_categories
        own = reference.select(rows=rows)
        transitions = Transitions.of(self.class_source, own, None if limits is None else limits[code])
        assigned = reference.assigned_any_class[:, code]
        free = self.proposals.free_of(own) & assigned[self.proposals.image]
        if not len(rows):  # a school that lost every annotation has no class for an addition
            free[:] = False
        return Scene(
            image=own.image,
            category=own.category,
            corners=own.shapes["box"].bounds(),
            image_size=own.image_size,
            assigned=assigned,
            transitions=transitions,
            proposals=self.proposals,
            free=self.proposals.apart(np.flatnonzero(free)),
            seen=self.seen,
        )

    def _generate_one(self, draft: Draft) -> tuple[Columns, Columns]:
        if draft.magnitude == 0:
            draft.keep_rest()
        else:
            miss_and_add(draft, self.parameters.unmatched)
            split_and_merge(draft, self.parameters.topology)
            mistake_categories(draft, self.parameters.category)
            shift_rest(draft, self.parameters.localization)
        return draft.finished()

    def _table(
        self,
        reference: Annotations,
        reference_rater: NDArray[np.intp],
        names: list[str],
        annotations: Columns,
    ) -> Annotations:
        added = annotations["proposal"] >= 0
        image = (
            reference.image[np.maximum(annotations["source"], 0)] if len(reference) else np.zeros(len(added), np.intp)
        )
        image[added] = self.proposals.image[annotations["proposal"][added]]
        donor = np.full(len(added), -1)
        donor[added] = self.proposals.donor[annotations["proposal"][added]]
        canvas = np.rint(reference.image_size[image]).astype(np.intp)
        origins = Origins(
            annotations["source"], annotations["partner"], annotations["part"], donor, annotations["corners"], canvas
        )
        return cast_of(
            reference,
            reference_rater,
            names,
            image=image,
            rater=annotations["rater"],
            category=annotations["category"],
            shapes=build_shapes(origins, reference.shapes, self.proposals.donors),
        )


def _refer(columns: Columns, rater: int, rows: Mapping[str, NDArray[np.intp]]) -> Columns:
    """Convert rows of one rater's scene or draft to rows of the whole tables; -1 stays."""
    indices = {name: np.append(wanted, -1)[columns[name]] for name, wanted in rows.items()}
    count = len(next(iter(columns.values())))
    return columns | indices | {"rater": np.full(count, rater)}


def _together(parts: list[Columns]) -> Columns:
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _objects(annotations: Columns, of_reference: NDArray[np.intp], count: int) -> NDArray[np.intp]:
    """Return the distinct objects (N, W) of each annotation, in ascending order."""
    width = of_reference.shape[1]
    none = np.full((1, width), -1)
    known = np.concatenate([of_reference, none])
    added = np.where(annotations["proposal"] >= 0, annotations["proposal"] + count, -1)
    every = np.concatenate([known[annotations["source"]], known[annotations["partner"]], added[:, None]], axis=1)
    last = np.iinfo(np.intp).max
    every = np.sort(np.where(every < 0, last, every), axis=1)
    every[:, 1:][every[:, 1:] == every[:, :-1]] = last
    every = np.sort(every, axis=1)
    used = max(int((every < last).sum(axis=1).max(initial=1)), 1)
    return np.where(every == last, -1, every)[:, :used]


def _events(made: Annotations, reference: Annotations, columns: Columns) -> Events:
    return Events(
        annotations=made,
        reference=reference,
        rater=columns["rater"],
        image=columns["image"],
        stage=np.array(STAGES)[STAGE_OF_EVENT[columns["event"]]],
        event=np.array(EVENTS)[columns["event"]],
        outcome=np.array(OUTCOMES)[columns["outcome"]],
        reference_rows=np.stack([columns["reference_a"], columns["reference_b"]], axis=1),
        rows=np.stack([columns["row_a"], columns["row_b"]], axis=1),
        category_from=columns["category_from"],
        category_to=columns["category_to"],
        shift=columns["shift"],
        scale=columns["scale"],
        redrawn=columns["redrawn"],
    )


def _names(raters: int | Sequence[str]) -> list[str]:
    if isinstance(raters, str):
        return [raters]
    if isinstance(raters, Sequence):
        names = [as_name(name) for name in raters]
        if not names or not all(isinstance(name, str) for name in names) or len(set(names)) != len(names):
            raise InputError(f"raters: expected names, each once, got {listed(map(repr_of, names)) or 'none'}")
        return names
    return [f"synthetic {number + 1}" for number in range(check_whole(raters, "raters", least=1))]


def _magnitudes(given: float | Sequence[float], count: int, what: str, of: str) -> NDArray[np.float64]:
    """Expand one number for all, or a list, to one number for each (count,)."""
    entries = np.asarray(given, dtype=object)
    values = [given] * count if entries.ndim == 0 else entries.reshape(-1).tolist()
    if len(values) != count:
        raise InputError(f"{what}: expected one number, or one for each of {count} {of}s, got {len(values)}")
    numbers = [as_number(value) for value in values]
    if not all(number is not None and 0 <= number < np.inf for number in numbers):
        raise InputError(f"{what}: expected finite numbers of 0 or more, got {repr_of(given)}")
    return np.array(numbers, dtype=np.float64)


def _school_sizes(schools: Sequence[int] | None, raters: int) -> NDArray[np.intp]:
    if schools is None:
        return np.array([raters])
    if not isinstance(schools, Iterable):
        raise InputError(f"schools: expected the sizes of all schools, got {repr_of(schools)}")
    sizes = np.array([check_whole(size, "schools", least=1) for size in schools], dtype=np.intp)
    if sizes.sum() != raters:
        raise InputError(f"schools: expected sizes that add up to {raters} raters, got {listed(sizes, 20)}")
    return sizes
