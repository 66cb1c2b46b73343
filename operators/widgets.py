"""Building blocks of forms: drop-downs, switches, numbers, and the marking of invalid inputs."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias, get_args

import fiftyone.operators.types as types

from kalos_core import InputError
from kalos_core.options import Declared
from kalos_core.text import plain

Context: TypeAlias = Any
"""FiftyOne's `ExecutionContext`; FiftyOne has no type annotations."""

Read: TypeAlias = Callable[[str, str], Any]
"""Function ``read(text, name)`` that returns the value of a typed option; its errors name the option."""

Entries: TypeAlias = Mapping[str, str] | Iterable[str]
"""Values with their labels, or values that are their own labels."""


def dropdown(
    entries: Entries, *, descriptions: Mapping[str, str] | None = None, multiple: bool = False
) -> types.DropdownView:
    return _with_entries(types.DropdownView(multiple=multiple), entries, descriptions or {})


def add_dropdown(
    inputs: types.Object,
    name: str,
    entries: Entries,
    *,
    descriptions: Mapping[str, str] | None = None,
    accepted: Iterable[str] = (),
    **options: Any,
) -> types.Property:
    """Add a drop-down; `accepted` holds values that are valid but not offered."""
    view = dropdown(entries, descriptions=descriptions)
    return inputs.enum(name, [*view.values(), *accepted], view=view, **options)


def add_list(inputs: types.Object, name: str, entries: Entries, **options: Any) -> types.Property:
    """Add a drop-down with multiple choice."""
    return inputs.list(name, types.String(), view=dropdown(entries, multiple=True), **options)


def add_radio(inputs: types.Object, name: str, entries: Entries, **options: Any) -> types.Property:
    """Add a horizontal group of radio buttons."""
    view = _with_entries(types.RadioGroup(orientation="horizontal"), entries, {})
    return inputs.enum(name, view.values(), view=view, **options)


def _with_entries(view: types.Choices, entries: Entries, descriptions: Mapping[str, str]) -> types.Choices:
    labels = entries if isinstance(entries, Mapping) else {entry: entry for entry in entries}
    for value, label in labels.items():
        view.add_choice(value, label=plain(label), description=descriptions.get(value))
    return view


def add_switch(inputs: types.Object, name: str, *, default: bool = False, **options: Any) -> types.Property:
    return inputs.bool(name, default=default, view=types.SwitchView(), **options)


def add_number(
    ctx: Context, inputs: types.Object, name: str, low: float, high: float | None = None, **options: Any
) -> types.Property:
    """Add a number within limits, an integer if `low` is one.

    FiftyOne itself checks limits only when the form is submitted.
    """
    define = inputs.int if isinstance(low, int) else inputs.float
    prop = define(name, min=low, max=high, **options)
    value = ctx.params.get(name)
    if value is not None and not (value >= low and (high is None or value <= high)):
        refuse(prop, f"A number of at least {low:g}" if high is None else f"A number from {low:g} to {high:g}")
    return prop


def is_on(ctx: Context, inputs: types.Object, name: str, *, default: bool = False, **options: Any) -> bool:
    """Add a switch that only affects the form, and return whether it is on."""
    add_switch(inputs, name, default=default, **options)
    chosen = ctx.params.get(name)
    return default if chosen is None else bool(chosen)


def add_option(
    ctx: Context,
    inputs: types.Object,
    entry: Declared,
    offered: Entries | None = None,
    read: Read | None = None,
    **own: Any,
) -> types.Property:
    """Add an input for an option as declared, changed by `own`; `offered` replaces its choices.

    With `read`, the option is typed as text.
    """
    option, kinds = entry.option, {entry.kind, *get_args(entry.kind)}
    about = {"default": entry.default, "label": option.label, "description": option.help, **own}
    if offered is not None and isinstance(about["default"], (list, tuple)):
        return add_list(inputs, entry.name, offered, **about)
    if option.values or offered is not None:
        values = option.values if offered is None else offered
        return add_dropdown(inputs, entry.name, values, descriptions=option.choices, **about)
    if bool in kinds:
        return add_switch(inputs, entry.name, **about)
    if read is not None or str in kinds or kinds.isdisjoint((int, float)):
        prop = inputs.str(entry.name, **about)
    else:
        low = int(option.low or 0) if int in kinds else float(option.low or option.above or 0)
        prop = add_number(ctx, inputs, entry.name, low, option.high or option.below, **about)
    value = ctx.params.get(entry.name)
    if value is not None and not prop.invalid:
        check(prop, lambda: option.checked(typed(read, value, entry.name), entry.name, entry.kind))
    return prop


def typed(read: Read | None, value: Any, name: str) -> Any:
    """Return the value of an option that may be typed as text; other values, as from the SDK, are unchanged."""
    return read(value, name) if read is not None and isinstance(value, str) else value


def numbers(text: str, name: str) -> list[float]:
    """Parse typed numbers.

    Examples
    --------
    >>> numbers("0.5, 1", "quorum")
    [0.5, 1.0]
    """
    try:
        return [float(entry) for entry in text.replace(",", " ").split()]
    except ValueError:
        raise InputError(f"{name}: expected numbers, such as 0.5, 1, got {text!r}") from None


def check(prop: types.Property, question: Callable[[], Any]) -> None:
    """Mark an input as invalid if `question`, which reads it, raises an error."""
    try:
        question()
    except InputError as error:
        refuse(prop, str(error))


def refuse(prop: types.Property, message: str) -> None:
    prop.invalid = True
    prop.error_message = message


def block(inputs: types.Object, title: str, text: str, name: str = "nothing") -> None:
    """Show an error, and prevent the form from being submitted."""
    inputs.view(name, types.Error(label=title, description=text))
    refuse(inputs.str("refused", required=True, view=types.HiddenView()), text)


def given(params: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """Return the params with these names that are set, so that the called function fills in the other defaults."""
    return {name: params[name] for name in names if params.get(name) is not None}


def given_if(params: Mapping[str, Any], switch: str, *names: str) -> dict[str, Any]:
    """Return the same as `given`, or nothing if the switch that shows the inputs is off."""
    return {} if params.get(switch) is False else given(params, *names)


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table."""
    return "\n".join(f"| {' | '.join(cells)} |" for cells in [heads, ["---"] * len(heads), *rows])
