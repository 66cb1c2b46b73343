"""The demo's scenes without their paint, which takes long: all that the simulated raters look at."""

from __future__ import annotations

from types import SimpleNamespace

from demo.scenes import objects_of, plan_scene


def unpainted_scenes() -> list[SimpleNamespace]:
    plans = [plan_scene(index) for index in range(72)]
    images = [SimpleNamespace(size=plan.size) for plan in plans]
    return [
        SimpleNamespace(name=plan.name, theme=plan.theme.name, image=image, objects=objects_of(plan))
        for plan, image in zip(plans, images, strict=True)
    ]
