"""The few sentences that matter, each a link to what it is about."""

import fiftyone.operators.types as types

import kalos_core.fiftyone as kf
from kalos_core.display import alpha_text, percent_text
from kalos_core.fiftyone.kinds.agreement.rerating import view_of_next
from kalos_core.fiftyone.kinds.agreement.views import view_worst_first
from kalos_core.fiftyone.runs.analyses import Analysis
from kalos_core.fiftyone.runs.keys import RunNames
from kalos_core.figures.published import PUBLISHED_ALPHAS
from kalos_core.text import plain

from ..parts.events import WORKBENCH, Context, guarded
from ..parts.figures import add_part, put_parts
from ..parts.layout import add_row, add_table
from .agreement import by_alpha
from .base import WHOLE, Section

SENTENCE = {
    "button": {"sx": {"justifyContent": "flex-start", "textAlign": "left", "textTransform": "none", "width": "100%"}}
}

PUBLISHED_COLUMNS = (("dataset", "Data set"), ("alpha", "α"), ("notation", "Configuration"), ("source", "Source"))

NOTHING_YET = (
    "**How good are the labels?**\n\nNothing is computed yet: *Analyse* says how far the raters agree, which class is "
    "hardest, who differs, and what no model can be expected to pass."
)

NEXT = 20
"""Images that are named for one more rater."""

NEXT_MORE = "Their order is in `{field}`; the operator *Images for one more rater* names another number, and tags them."

NOT_NARROWED = "The ceiling, the disputes and what was edited are of all images and raters, whatever the lens."


class OverviewSection(Section):
    """What a labelling lead reads first."""

    NAME, KIND, NOTHING_YET = "Overview", "agreement", NOTHING_YET
    FOLLOWS = ("category", "rater", "tag", "view")
    PAGES = ("Findings", "Published")

    def load(self, ctx: Context, analysis: Analysis) -> None:
        state, run = ctx.panel.state, kf.load_details(ctx.dataset, analysis.runs["agreement"].key)
        state.run = run.key
        if self.page(ctx) == "Findings":
            found = kf.overview_of(ctx.dataset, analysis.key, self.lens(ctx))
            state.statements = [[plain(entry.text, None), entry.leads_to, dict(entry.arguments)] for entry in found]
            state.next_said = None
            state.remarks = [run.metrics["note"]] if run.metrics["note"] else []
        else:
            put_parts(ctx, {"scale": kf.figures_of(run)["scale"]})
            ctx.panel.set_data("published", published_rows(run.settings["similarity"]))

    def render(self, panel: types.Object, ctx: Context) -> None:
        if self.page(ctx) == "Findings":
            self._add_findings(panel, ctx)
        else:
            add_part(panel, ctx, "scale")
            add_table(panel, "published", "Published values, those of your similarity first", PUBLISHED_COLUMNS)

    def _add_findings(self, panel: types.Object, ctx: Context) -> None:
        state = ctx.panel.state
        for number, (text, *_) in enumerate(state.statements):
            name, on_click = f"statement_{number}", self.to(self.follow)
            panel.btn(name, label=text, on_click=on_click, params={"number": number}, componentsProps=SENTENCE)
        if state.lens != WHOLE:
            panel.md(NOT_NARROWED, name="not_in_lens")
        for number, remark in enumerate(state.remarks):
            panel.view(f"remark_{number}", types.Notice(label=remark))
        row = add_row(panel, "next_row")
        on_click = self.to(self.show_worst)
        row.btn("worst", label="Show the worst images", icon="grid_view", on_click=on_click, variant="contained")
        given = {"operator": "report", "given": {"key": state.run}}
        row.btn("report", label="Write a report", icon="description", on_click=f"{WORKBENCH}#prompt", params=given)
        label = "Which images should one more rater see?"
        row.btn("rerate", label=label, icon="person_add", on_click=self.to(self.show_next), variant="outlined")
        for number, line in enumerate(state.next_said or ()):
            panel.md(line, name=f"next_text_{number}")

    @guarded
    def follow(self, ctx: Context) -> None:
        """The section a statement is about, with its class or rater in the lens."""
        state = ctx.panel.state
        _, section, arguments = state.statements[ctx.params["number"]]
        for part, name in arguments.items():
            if name in state.choices.get(part, ()):
                self.look_at(ctx, part, name)
        self.go_to(ctx, section)

    @guarded
    def show_worst(self, ctx: Context) -> None:
        lens = self.lens(ctx)
        view = view_worst_first(ctx.dataset, ctx.panel.state.run, category=lens.category, rater=lens.rater)
        self.show(ctx, view, f"images, {by_alpha(lens.category, lens.rater)}")

    @guarded
    def show_next(self, ctx: Context) -> None:
        """The images to give to one more rater, and what that would bring."""
        state = ctx.panel.state
        found = kf.next_to_rate(ctx.dataset, state.run, NEXT)
        state.next_said = found.headline.splitlines()
        if len(found):
            state.next_said = [*state.next_said, NEXT_MORE.format(field=RunNames(state.run).next)]
            gain = f"the variance of α is expected to fall by {percent_text(found.taken)}"
            self.show(ctx, view_of_next(ctx.dataset, state.run), f"images for one more rater: {gain}")


def published_rows(similarity: str) -> list[dict[str, str]]:
    """Published values, those with a similarity first."""
    records = sorted(PUBLISHED_ALPHAS, key=lambda record: record.similarity != similarity)
    return [
        {
            "dataset": f"{record.dataset}\n{record.task}",
            "alpha": alpha_text(record.alpha, 3),
            "notation": f"{record.printed}\n{record.note}".rstrip(),
            "source": record.source,
        }
        for record in records
    ]
