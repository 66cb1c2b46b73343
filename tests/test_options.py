"""Settings on every supported Python."""

from __future__ import annotations

import re
import typing
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Any, ForwardRef

from kalos_core import options
from kalos_core.diagnostics.thresholds import SensitivityArguments
from kalos_core.options import Settings


@dataclass(frozen=True)
class Few(Settings):
    first: int = 1
    _: KW_ONLY
    second: str = "a"


@dataclass(frozen=True)
class More(Few):
    _: KW_ONLY
    second: float = 2.0
    third: bool = True


def test_types_of_fields_are_found_without_the_marker_that_python_3_10_refuses(monkeypatch: Any) -> None:
    evaluate = ForwardRef._evaluate

    def strictly(reference: Any, *arguments: Any, **named: Any) -> Any:
        assert reference.__forward_arg__ != "KW_ONLY"
        return evaluate(reference, *arguments, **named)

    monkeypatch.setattr(typing.ForwardRef, "_evaluate", strictly)
    found = options._hints.__wrapped__(More)
    assert found == {"first": int, "second": float, "third": bool}
    assert {"thresholds", "similarity", "pairs"} <= set(options._hints.__wrapped__(SensitivityArguments))


def test_class_variables_name_their_type_because_python_3_10_refuses_to_evaluate_them_otherwise() -> None:
    modules = sorted((Path(__file__).parents[1] / "kalos_core").rglob("*.py"))
    assert [path.name for path in modules if re.search(r": ClassVar *(=|$)", path.read_text("utf-8"), re.M)] == []
