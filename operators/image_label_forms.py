"""Shared inputs of operators on image-level labels: raters, labels, confidence, exclusive labels, and teams."""

import warnings
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

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
"""Number of images from which a form suggests groups, after every change."""

NAMED_HELP = "A name and its labels: place: indoor, outdoor; time: day, night; empty where no labels exclude each other"

TEAMS = (("first", "experts"), ("second", "crowd"))
"""Teams of a form, with their default names."""


class ImageLabelAnalysis(base.Analysis[base.RunOfKind]):
    """Base class of analyses that read image-level labels; a subclass defines the same as for `Analysis`."""

    DELEGATED_FROM = 100_000  # images
    INPUTS: ClassVar = {
        "own_group_": Sequence[str],
        **{f"{team}_name": str for team, _ in TEAMS},
        **{f"{team}_team": Sequence[str] for team, _ in TEAMS},
    }

    def add_selection(self, ctx: Context, inputs: types.Object) -> bool:
        """Add raters, reference, labels, confidence and exclusive labels."""
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
        with self.only_fitting(ctx):
            chosen = _ticked(ctx)
        if chosen:
            ctx.params["groups"] = chosen
        return super().execute(ctx)


def read_selection(ctx: Context) -> kf.Selection:
    """Return the selection of the form, also for calls from the SDK, which fill in no defaults."""
    return forms.read_selection(ctx, _everybody)


def read_groups(params: Mapping[str, Any]) -> Any:
    """Return which labels exclude each other; all of them, unless the form or a call says otherwise."""
    groups, exclusive = params.get("groups"), params.get("exclusive")
    if params.get("named") is False and isinstance(groups, str):  # typed before the switch was turned off
        groups = None
    if exclusive is False or (exclusive is None and groups):
        is_text = isinstance(groups, str) and groups != SUGGESTED
        return (grouping.read_groups(groups) if is_text else groups) or None
    return "label"


def read_teams(params: Mapping[str, Any]) -> dict[str, list[str]] | None:
    """Return the teams of the form, or those of a call."""
    if not params.get("compare_teams"):
        return params.get("teams")
    return {params.get(f"{team}_name") or usual: params.get(f"{team}_team") or [] for team, usual in TEAMS}


def fields_of_raters(ctx: Context) -> set[str]:
    """Return the label fields of the selected raters."""
    return forms.selected_fields(read_selection(ctx), kf.rater_fields(ctx.dataset, IMAGE_LABELS))


def add_teams(ctx: Context, inputs: types.Object, description: str) -> None:
    """Add two named teams of raters."""
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
    """Return the names of the selected raters."""
    selection = read_selection(ctx)
    stored = kf.rater_fields(ctx.dataset, IMAGE_LABELS)
    names = list(selection.raters or stored)
    if selection.field is not None and not selection.raters:
        path = kf.label_fields(ctx.dataset, IMAGE_LABELS)[selection.field]
        names = [str(name) for name in ctx.dataset.distinct(f"{path}.{selection.rater_attribute}")]
    by_field = {field: name for name, field in stored.items()}
    return [by_field.get(name, name) for name in names if name != selection.reference]


def _add_raters(ctx: Context, inputs: types.Object, fields: Mapping[str, str]) -> str:
    """Add the raters and the reference, and return how raters are stored."""
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
    texts = ("Reference (ground truth)", "Measures the accuracy of each rater; excluded from everything else")
    forms.add_reference(ctx, inputs, name, [*offered, *known], usual, *texts)
    return storage


def _everybody(ctx: Context) -> tuple[str, ...] | None:
    """Return the default raters if none are stored: fields without scores, or all fields if all have scores.

    Other fields with scores are classifiers.
    """
    if kf.rater_fields(ctx.dataset, IMAGE_LABELS):
        return None
    fields, scored = kf.label_fields(ctx.dataset, IMAGE_LABELS), scored_fields(ctx.dataset)
    return tuple(name for name in fields if name not in scored) or tuple(fields)


def _add_exclusive(ctx: Context, inputs: types.Object, exclusive: bool) -> None:
    """Add a switch for exclusive labels with default `exclusive`, and check boxes for groups if it is off."""
    about = "Otherwise, each label is a separate question, chosen or not, unless it belongs to a group"
    label = "Each rater chose exactly one label"
    if widgets.is_on(ctx, inputs, "exclusive", default=exclusive, label=label, description=about):
        return
    label, about = "Type groups with their names", "Instead of ticking them"
    if widgets.is_on(ctx, inputs, "named", label=label, description=about):
        groups = inputs.str("groups", label="Labels that exclude each other", description=NAMED_HELP)
        widgets.check(groups, lambda: grouping.read_groups(ctx.params.get("groups")))
        return
    found = _suggested(ctx)
    about = "Tick the groups that form one question" if found else "None found; each label is a separate question"
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
    """Return the groups that were composed in the form, up to the first empty one."""
    found: list[Sequence[str]] = []
    while labels := params.get(f"own_group_{len(found)}"):
        found.append(labels)
    return found


def _ticked(ctx: Context) -> dict[str, list[str]]:
    """Return the groups that were ticked or composed in the form; none for other calls."""
    if ctx.params.get("exclusive") or ctx.params.get("named"):
        return {}
    chosen = {" / ".join(labels): list(labels) for labels in _own_groups(ctx.params)}
    if any(name.startswith("group_") for name in ctx.params):
        found = enumerate(_suggested(ctx))
        ticked = {group.name: list(group.concepts) for number, group in found if ctx.params.get(f"group_{number}")}
        return ticked | chosen
    return chosen


def _suggested(ctx: Context) -> tuple[SuggestedGroup, ...]:
    """Return groups of labels that exclude each other in the first images."""
    arguments = read_selection(ctx).arguments()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", KalosWarning)
            return suggest_groups(kf.read_label_table(ctx.target_view().limit(LOOKED_AT), groups=None, **arguments))
    except InputError:  # shown next to the input that is wrong, or when the form is sent
        return ()


def _has_lists(ctx: Context, fields: Mapping[str, str]) -> bool:
    """Return whether the field of a rater holds several labels per image."""
    return any(fields.get(name) != name for name in fields_of_raters(ctx))
