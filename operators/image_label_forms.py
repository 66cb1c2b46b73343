"""What analyses of image-level labels share: raters, labels, confidence, which labels exclude each other, and teams."""

import warnings
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import fiftyone.operators.types as types

import kalos_core.fiftyone as kf
from kalos_core import InputError, KalosWarning
from kalos_core.display import number_of
from kalos_core.fiftyone.dataset.image_labels import scored_fields
from kalos_core.fiftyone.dataset.raters import IMAGE_LABELS, class_names, sources_of
from kalos_core.nominal import SUGGESTED, SuggestedGroup, grouping, suggest_groups

from . import base, forms, widgets
from .widgets import Context

LOOKED_AT = 300
"""Images from which a form suggests groups: it does so with every change."""

NAMED_HELP = "A name and its labels: place: indoor, outdoor; time: day, night; empty where no labels exclude each other"

TEAMS = (("first", "experts"), ("second", "crowd"))
"""The teams of a form, and what they are called by default."""


class ImageLabelAnalysis(base.Analysis[base.RunOfKind]):
    """An analysis that reads image-level labels; a subclass says what any `Analysis` does."""

    DELEGATED_FROM = 100_000  # images

    def add_selection(self, ctx: Context, inputs: types.Object) -> bool:
        """Raters, reference, labels, confidence, exclusive labels."""
        text = (
            "This reads fields of Classification or Classifications. kalos_core.fiftyone.load_label_table writes a "
            "table of images, raters and labels into them."
        )
        there = partial(kf.label_fields, ctx.dataset, IMAGE_LABELS)
        if not forms.has_any(ctx, inputs, there, "No image-level labels yet", text):
            return False
        fields = there()
        storage = _add_raters(ctx, inputs, fields)
        _add_exclusive(ctx, inputs, storage == forms.BY_ATTRIBUTE or not _has_lists(ctx, fields))
        if widgets.is_on(ctx, inputs, "more", label="Choose labels and confidence"):
            description = "Only these, as the options that raters had; empty for all"
            labels = class_names(ctx.dataset, IMAGE_LABELS)
            widgets.add_list(inputs, "classes", labels, label="Labels", description=description)
            widgets.add_option(ctx, inputs, forms.READ["min_confidence"])
        return True

    def selection(self, ctx: Context) -> kf.Selection:
        return read_selection(ctx)

    def settings(self, params: Mapping[str, Any]) -> dict[str, Any]:
        return super().settings(params) | {"groups": read_groups(params), "teams": read_teams(params)}

    def execute(self, ctx: Context) -> dict[str, Any] | Iterator[Any]:
        if chosen := _ticked(ctx):
            ctx.params["groups"] = chosen
        return super().execute(ctx)


def read_selection(ctx: Context) -> kf.Selection:
    """The labels that the form selects; also for calls from the SDK, which fill in no defaults."""
    return forms.read_selection(ctx, _everybody)


def read_groups(params: Mapping[str, Any]) -> Any:
    """Which labels exclude each other: all of them unless the form or a call says otherwise."""
    groups, exclusive = params.get("groups"), params.get("exclusive")
    if params.get("named") is False and isinstance(groups, str):  # typed before the switch was turned off
        groups = None
    if exclusive is False or (exclusive is None and groups):
        is_text = isinstance(groups, str) and groups != SUGGESTED
        return (grouping.read_groups(groups) if is_text else groups) or None
    return "label"


def read_teams(params: Mapping[str, Any]) -> dict[str, list[str]] | None:
    """The teams of a form, or those that a call names."""
    if not params.get("compare_teams"):
        return params.get("teams")
    return {params.get(f"{team}_name") or usual: params.get(f"{team}_team") or [] for team, usual in TEAMS}


def fields_of_raters(ctx: Context) -> set[str]:
    """The fields that the labels of the selected raters are in."""
    return forms.selected_fields(read_selection(ctx), kf.rater_fields(ctx.dataset, IMAGE_LABELS))


def add_teams(ctx: Context, inputs: types.Object, description: str) -> None:
    """Two teams of raters, by name."""
    if not widgets.is_on(ctx, inputs, "compare_teams", label="Compare two teams of raters", description=description):
        return
    raters = _rater_names(ctx)
    chosen = [set(ctx.params.get(f"{team}_team") or ()) for team, _ in TEAMS]
    for (team, usual), own in zip(TEAMS, chosen, strict=True):
        inputs.str(f"{team}_name", default=usual, label=f"Name of the {team} team")
        members = widgets.add_list(inputs, f"{team}_team", raters, label=f"Raters of the {team} team", required=True)
        if not own:
            widgets.refuse(members, "A team needs a rater")
        elif chosen[0] & chosen[1]:
            widgets.refuse(members, f"{min(chosen[0] & chosen[1])!r} is in both teams")


def _rater_names(ctx: Context) -> list[str]:
    """The selected raters, by name."""
    selection = read_selection(ctx)
    stored = kf.rater_fields(ctx.dataset, IMAGE_LABELS)
    names = list(selection.raters or stored)
    if selection.field is not None and not selection.raters:
        path = kf.label_fields(ctx.dataset, IMAGE_LABELS)[selection.field]
        names = [str(name) for name in ctx.dataset.distinct(f"{path}.{selection.rater_attribute}")]
    by_field = {field: name for name, field in stored.items()}
    return [by_field.get(name, name) for name in names if name != selection.reference]


def _add_raters(ctx: Context, inputs: types.Object, fields: Mapping[str, str]) -> str:
    """Who the raters are, and who knows the truth; how they are stored."""
    lists = {name: path for name, path in fields.items() if path != name}
    stored = kf.rater_fields(ctx.dataset, IMAGE_LABELS)
    by_field = stored or not lists or len(_everybody(ctx) or stored) > 1
    storage = forms.BY_FIELD if by_field else forms.add_storage(ctx, inputs, stored, lists)
    known = []
    if storage == forms.BY_ATTRIBUTE:
        offered = forms.add_attribute(ctx, inputs, lists)
        usual, name = offered, forms.RATERS_IN_FIELD
    else:
        usual, name = list(stored or _everybody(ctx) or ()), "raters"
        offered = [*usual, *(field for field in fields if not stored and field not in usual)]
        known = [field for field in fields if field not in {*offered, *stored.values()}]
    forms.add_raters(ctx, inputs, name, offered, usual, partial(sources_of, family=IMAGE_LABELS))
    texts = ("Reference (known truth)", "Each rater's accuracy to it is shown; it is kept out of everything else")
    forms.add_reference(ctx, inputs, name, [*offered, *known], usual, *texts)
    return storage


def _everybody(ctx: Context) -> tuple[str, ...] | None:
    """Fields without scores, where no raters are stored: with scores they are classifiers, unless all have some."""
    if kf.rater_fields(ctx.dataset, IMAGE_LABELS):
        return None
    fields, scored = kf.label_fields(ctx.dataset, IMAGE_LABELS), scored_fields(ctx.dataset)
    return tuple(name for name in fields if name not in scored) or tuple(fields)


def _add_exclusive(ctx: Context, inputs: types.Object, exclusive: bool) -> None:
    """Whether all labels exclude each other, `exclusive` by default; if not, which do, by ticking."""
    about = "Otherwise a label is a question of its own, chosen or not, unless it belongs to a group"
    label = "Each rater chose exactly one label"
    if widgets.is_on(ctx, inputs, "exclusive", default=exclusive, label=label, description=about):
        return
    label, about = "Type groups with their names", "In place of ticking them"
    if widgets.is_on(ctx, inputs, "named", label=label, description=about):
        groups = inputs.str("groups", label="Labels that exclude each other", description=NAMED_HELP)
        widgets.check(groups, lambda: grouping.read_groups(ctx.params.get("groups")))
        return
    found = _suggested(ctx)
    about = "Tick those that are one question" if found else "None is seen; a label is a question of its own"
    inputs.view("suggested", types.Header(label="Labels that exclude each other", description=about))
    for number, group in enumerate(found):
        label, description = (
            ", ".join(group.concepts),
            f"{group.supporting:,} of {number_of(group.answers, 'answer')} chose one",
        )
        inputs.bool(f"group_{number}", default=True, label=label, description=description)
    taken = {name for number, group in enumerate(found) if _is_ticked(ctx, number) for name in group.concepts}
    free = [name for name in class_names(ctx.dataset, IMAGE_LABELS) if name not in taken]
    own = _own_groups(ctx.params)
    for number in range(len(own) + 1):
        labels = widgets.add_list(
            inputs, f"own_group_{number}", free, label="A further group", description="Labels that are one question"
        )
        again = [name for other in own[:number] for name in other if number < len(own) and name in own[number]]
        if again:
            widgets.refuse(labels, f"{again[0]!r} is in another group")


def _is_ticked(ctx: Context, number: int) -> bool:
    return bool(ctx.params.get(f"group_{number}", True))


def _own_groups(params: Mapping[str, Any]) -> list[Sequence[str]]:
    """The groups that were put together in the form, up to the first that is empty."""
    found: list[Sequence[str]] = []
    while labels := params.get(f"own_group_{len(found)}"):
        found.append(labels)
    return found


def _ticked(ctx: Context) -> dict[str, list[str]]:
    """The groups that the form has ticked or put together; none for a call that does not name them so."""
    if ctx.params.get("exclusive") or ctx.params.get("named"):
        return {}
    chosen = {" / ".join(labels): list(labels) for labels in _own_groups(ctx.params)}
    if any(name.startswith("group_") for name in ctx.params):
        found = enumerate(_suggested(ctx))
        ticked = {group.name: list(group.concepts) for number, group in found if ctx.params.get(f"group_{number}")}
        return ticked | chosen
    return chosen


def _suggested(ctx: Context) -> tuple[SuggestedGroup, ...]:
    """Labels that exclude each other, by the first images."""
    arguments = read_selection(ctx).arguments()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", KalosWarning)
            return suggest_groups(kf.read_label_table(ctx.target_view().limit(LOOKED_AT), groups=None, **arguments))
    except InputError:  # shown next to the input that is wrong, or when the form is sent
        return ()


def _has_lists(ctx: Context, fields: Mapping[str, str]) -> bool:
    """Whether a rater's field holds several labels of an image."""
    return any(fields.get(name) != name for name in fields_of_raters(ctx))
