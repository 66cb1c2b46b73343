"""What raters said of the same object besides its class: agreement on each attribute, and the images behind it."""

from typing import Any

import fiftyone.operators.types as types

import kalos_core.fiftyone as kf
from kalos_core.display import count_text
from kalos_core.fiftyone.kinds.agreement.attributes import AttributeRow
from kalos_core.nominal import GradeAgreement, least_agreed_first
from kalos_core.text import bold, plain, shown

from ..parts.events import Context
from ..parts.figures import add_reading
from ..parts.layout import add_menu, add_table, number_or_reason

MOST_ROWS = 25

COLUMNS = (("attribute", "Attribute"), ("alpha", "α"), ("ac", "AC"), ("kappa", "Conger's κ"), ("units", "Units"))

IMAGE_COLUMNS = (("file", "Image"), ("category", "Class"), ("values", "What raters say"))

INVITATION = (
    "**Do raters agree on more than the class?** The run of *Agreement* compared no attributes. Where labels have "
    "some, such as a malignancy or an occlusion, a new run with *Attributes* chosen says how far raters agree on them."
)

READING = (
    "Of units of *Agreement* to which two raters or more gave the attribute. Values that are "
    "near count as nearly alike where they are numbers or have an order. 95 % intervals over images."
)

FORMULA = (
    "**α**: Krippendorff's, ordinal for numbers and nominal for text unless the run says otherwise. **AC**: Gwet's AC1 "
    "for nominal values, else AC2 with quadratic weights; **Conger's κ** likewise."
)


def put_attributes(ctx: Context, matched: Any) -> None:
    """What a run of agreement says of attributes, for `add_attributes`; nothing where it compared none."""
    state = ctx.panel.state
    compared = matched is not None and matched.settings["attributes"]
    found = least_agreed_first(kf.load_details(ctx.dataset, matched.key).details.attributes) if compared else []
    names = [of.name for of in found]
    state.attribute_names = names
    if not found:
        return
    if state.attribute not in names:
        state.attribute = names[0]
    state.attribute_title = found[names.index(state.attribute)].headline
    ctx.panel.set_data("attributes", [_row(of) for of in found])
    rows = kf.attribute_rows(ctx.dataset, matched.key, state.attribute, MOST_ROWS)
    state.image_ids = [row.sample_id for row in rows]
    ctx.panel.set_data("attribute_images", [_image_row(row) for row in rows])


def add_attributes(panel: types.Object, ctx: Context, change: str, row: str, worst: str, image: str) -> None:
    """What `put_attributes` put, with what its menu, the rows of its table, its button and its images lead to."""
    state = ctx.panel.state
    if not state.attribute_names:
        panel.md(INVITATION, name="no_attributes")
        return
    panel.md(bold(state.attribute_title), name="attribute_title_text")
    add_reading(panel, ctx, "attribute_reading", READING, FORMULA)
    add_table(panel, "attributes", "Attributes, the least agreed first: click one to see its images", COLUMNS, row)
    add_menu(panel, "attribute", state.attribute_names, change, label="Attribute")
    if not state.image_ids:
        panel.md(f"No two raters differ on {shown(state.attribute)}.", name="no_difference")
        return
    label = f"Show the images that differ most on {plain(state.attribute)}"
    panel.btn("worst", label=label, icon="grid_view", on_click=worst)
    label = "The unit of each image that raters differ on most: click one to open its image"
    add_table(panel, "attribute_images", label, IMAGE_COLUMNS, image)


def _row(found: GradeAgreement) -> dict[str, str]:
    numbers = zip(("alpha", "ac", "kappa"), found.value, found.interval, found.reason, strict=True)
    values = {name: number_or_reason(value, ends, reason) for name, value, ends, reason in numbers}
    return {"attribute": f"{plain(found.name)}\n({found.metric})", **values, "units": count_text(found.items)}


def _image_row(row: AttributeRow) -> dict[str, str]:
    said = ", ".join(f"{plain(rater)} {plain(str(value))}" for rater, value in row.values.items())
    return {"file": plain(row.file), "category": plain(row.category), "values": said}
