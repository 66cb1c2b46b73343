"""Every public function, class and method, from the names that the package and its readers export."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

import kalos_core
from kalos_core import consensus, convergence, drawing, nominal, pairs, pixels, ranking, readers, similarity, sparse
from kalos_core.noise.experiments import run_experiments
from kalos_core.readers.vocabulary import Vocabulary
from tests.fuzz import values as v

NOT_CALLED = {
    "Agreement": "made by `agreement`",
    "Truth": "made by `estimate_truth`",
    "NoiseModel": "made by `fit`, `default` and `from_json`",
    "BsdsFiles": "made by `read_bsds`",
    "MaskFolders": "made by `read_mask_folders`",
    "Vocabulary": "made by `from_aliases`",
    "InputError": "an error",
    "KalosError": "an error",
    "KalosWarning": "a warning",
}
"""Public names that are not called here, and why."""

BESIDE = (
    *(consensus.Truth, consensus.class_truth, consensus.staple_classes),
    *(convergence.map_of_predictions, convergence.read_models),
    *(drawing.draw_unit, pairs.compute_pairs, run_experiments, Vocabulary),
    *(nominal.find_disputes, nominal.item_accuracy, nominal.reject_answers, nominal.suggest_groups),
    *(pixels.PixelAccumulator, pixels.class_pixel_agreement, pixels.disputed_regions, pixels.mask_stacks),
    *(pixels.unit_boundaries, ranking.SystemScores, ranking.rank_models, ranking.rank_over_classes),
    *(similarity.Similarity, sparse.RunningAgreement, sparse.running_agreement),
)
"""What people call besides the names of `kalos_core` and its readers."""

INSTANCES: dict[str, Callable[[], Any]] = {
    "Agreement": lambda: v.AGREEMENT,
    "Annotations": lambda: v.ANNOTATIONS,
    "LabelTable": lambda: v.LABELS,
    "LabelStack": lambda: v.LABEL_STACK,
    "NoiseModel": lambda: v.MODEL,
    "DetectorAccumulator": v.ranking,
    "PixelAccumulator": v.counting,
    "RunningAgreement": sparse.RunningAgreement,
    "Vocabulary": lambda: Vocabulary.from_aliases({"cat": "dog"}),
}

CHEAP: dict[str, dict[str, Any]] = {
    "run_experiments": {"counts": (2,), "repeats": 1, "magnitudes": (1.0,)},
    "removal_experiment": {"rounds": 3, "steps": 3},
    "label_convergence": {"samples": 5},
    "check_independence": {"permutations": 20},
    "NoiseModel.tests": {"permutations": 5},
    "NoiseModel.rate_tests": {"permutations": 5},
    "NoiseModel.fidelity": {"draws": 1},
}
"""Arguments in place of defaults that take long."""

RENAMED = {
    ("class_pixel_agreement", "stacks"): "label_stacks",
    ("region_agreement", "stacks"): "label_stacks",
    ("staple_classes", "labels"): "label_maps",
    ("run_experiments", "counts"): "counts_of_raters",
}


def _collect() -> dict[str, Callable[..., Any]]:
    found: dict[str, Callable[..., Any]] = {}
    public = [getattr(module, name) for module in (kalos_core, readers) for name in module.__all__]
    for thing in filter(callable, (*public, *BESIDE)):
        name = thing.__name__
        if name not in NOT_CALLED:
            found[name] = thing
        if not inspect.isclass(thing) or issubclass(thing, BaseException):
            continue
        for method, held in vars(thing).items():
            if method.startswith("_") or isinstance(held, property):
                continue
            if isinstance(held, (classmethod, staticmethod)):
                found[f"{name}.{method}"] = getattr(thing, method)
            elif inspect.isfunction(held) and name in INSTANCES:
                found[f"{name}.{method}"] = _of_instance(INSTANCES[name], method, held)
    return found


def _of_instance(make: Callable[[], Any], method: str, held: Any) -> Callable[..., Any]:
    def call(**given: Any) -> Any:
        return getattr(make(), method)(**given)

    signature = inspect.signature(held)
    call.__signature__ = signature.replace(parameters=list(signature.parameters.values())[1:])  # type: ignore[attr-defined]
    return call


CALLS = _collect()


@st.composite
def arguments(draw: st.DrawFn, name: str) -> dict[str, Any]:
    """Arguments of one call: those that are needed, and some others."""
    cheap = CHEAP.get(name, {})
    given = dict(cheap)
    for parameter in inspect.signature(CALLS[name]).parameters.values():
        if parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL):
            continue
        if parameter.default is parameter.empty or not draw(st.integers(0, 3)):
            kind = RENAMED.get((name, parameter.name), parameter.name)
            given[parameter.name] = draw(v.argument(kind, cheap.get(parameter.name, parameter.default)))
    return given
