"""From disagreement to decision: how far it is, what is next, and what follows from what was decided."""

import fiftyone.operators.types as types

import kalos_core.fiftyone as kf
from kalos_core.display import alpha_text, count_text, number_of, percent_text
from kalos_core.fiftyone.app import open_sample
from kalos_core.fiftyone.deciding.queue import queued_images, view_of_queue, view_of_units
from kalos_core.fiftyone.kinds.pixels.kind import has_regions
from kalos_core.fiftyone.runs.analyses import Analysis
from kalos_core.text import plain

from ..parts.events import WORKBENCH, Context, guarded, remember_queue
from ..parts.layout import add_menu, add_row, add_table
from .base import NOT_IN_LENS, Section

MOST_ROWS = 25

QUEUE = {
    "agreement": (("file", "Image"), ("alpha", "α"), ("open", "Open units")),
    "pixels": (("file", "Image"), ("alpha", "Shared (F1)"), ("open", "Open regions")),
}
"""Kind of run -> columns of its queue, the lowest number first."""

UNITS = {"agreement": "unit", "pixels": "region"}
"""Kind of run -> what is in dispute."""

OF_REGIONS = ("tag_disputes", "hand_over")
"""Results that decisions about regions of masks have, too."""

TRAINING = (("rater", "Rater"), ("gave", "Gave"), ("decided", "Decided"), ("count", "How often"), ("rate", "Of theirs"))

QUESTIONS = (("note", "Question"), ("who", "Asked by"), ("when", "When"))

RESULTS = {
    "resolved": (
        "Make resolved labels",
        "rule",
        "A new label field: what raters agree on, and what was decided, with who decided it. Ground truth for "
        "FiftyOne's *evaluate_detections*.",
    ),
    "export_resolved": (
        "Export resolved labels",
        "download",
        "The same as a COCO file, with where each label comes from.",
    ),
    "tag_disputes": (
        "Tag the disputes",
        "sell",
        "A tag on the images in dispute and on the labels of these units, to filter, export or save them by.",
    ),
    "hand_over": (
        "Hand over",
        "forward_to_inbox",
        "The images with open disputes go to an annotation back end that FiftyOne knows, for a new field.",
    ),
}
"""Operator -> its button, the icon, and what it is good for."""

NOTHING_YET = (
    "**Agreement of raters**\n\nNothing is computed yet. Matching finds which labels of different raters mean the "
    "same object; alpha then says how far they agree about the objects' existence and class, corrected for chance."
)


class DecideSection(Section):
    """The queue of units in dispute, and the results of the decisions."""

    NAME, KIND, NOTHING_YET = "Decide", "agreement", NOTHING_YET
    FOLLOWS = ("category", "rater")
    PAGES = ("Queue", "Training list", "Guideline", "Results")

    def is_shown(self, ctx: Context, analysis: Analysis | None) -> bool:
        return bool(analysis and "pixels" in _kinds(analysis)) or super().is_shown(ctx, analysis)

    def kind(self, ctx: Context) -> str:
        """What is decided: as chosen, where there are objects and regions of masks."""
        state, there = ctx.panel.state, _kinds(self.analysis(ctx))
        state.decided_kinds = {kind: kf.KINDS[kind].title for kind in there}
        return state.decided_kind if state.decided_kind in there else next(iter(there), self.KIND)

    def load(self, ctx: Context, analysis: Analysis) -> None:
        state = ctx.panel.state
        run = analysis.runs[state.kind]
        state.run = run.key
        count = kf.count_disputes(ctx.dataset, state.run)
        state.progress = {"all": count.all, "decided": count.decided, "waiting": count.waiting, "open": count.open}
        loaders = {"Queue": self._load_queue, "Training list": self._load_training, "Guideline": self._load_questions}
        if load := loaders.get(self.page(ctx)):
            load(ctx)

    def _load_queue(self, ctx: Context) -> None:
        state, lens = ctx.panel.state, self.lens(ctx)
        found = queued_images(ctx.dataset, state.run, MOST_ROWS, lens.category, lens.rater)
        state.queued_ids = [image.sample_id for image in found]
        rows = [{"file": plain(one.file), "alpha": alpha_text(one.alpha, 3), "open": one.open} for one in found]
        ctx.panel.set_data("queue", rows)

    def _load_training(self, ctx: Context) -> None:
        state, lens = ctx.panel.state, self.lens(ctx)
        table = kf.training_list(ctx.dataset, state.run)
        if lens.rater is not None:
            table = table[table.rater == lens.rater]
        if lens.category is not None:
            table = table[(table.category == lens.category) | (table.decided == lens.category)]
        found = table[:MOST_ROWS].to_dict("records")
        state.trained_labels = [list(map(str, row["labels"])) for row in found]
        state.trained = [[plain(row["rater"]), plain(row["category"])] for row in found]
        rows = [
            {
                "rater": plain(row["rater"]),
                "gave": plain(row["category"]),
                "decided": plain(row["decided"]),
                "count": f"{count_text(row['count'])} of {count_text(row['units'])}",
                "rate": percent_text(row["rate"]),
            }
            for row in found
        ]
        ctx.panel.set_data("training", rows)

    def _load_questions(self, ctx: Context) -> None:
        state = ctx.panel.state
        found = [one for one in kf.decisions(ctx.dataset, state.run) if one.decision == "guideline"][-MOST_ROWS:]
        state.asked_labels = [list(map(str, one.labels)) for one in found]
        state.markdown = kf.guideline_questions(ctx.dataset, state.run)
        rows = [
            {
                "note": plain(one.note) or "no note",
                "who": plain(one.who),
                "when": f"{one.when:%Y-%m-%d %H:%M}" if one.when else "",
            }
            for one in found
        ]
        ctx.panel.set_data("questions", rows)

    # ---- layout ----

    def render(self, panel: types.Object, ctx: Context) -> None:
        state, progress = ctx.panel.state, ctx.panel.state.progress
        if len(state.decided_kinds) > 1:
            add_menu(panel, "decided_kind", state.decided_kinds, self.to(self.change_kind), label="Decide about")
        of_all = "" if self.lens(ctx).is_whole else " (of all classes and raters)"
        panel.md(f"**{_headline(progress, UNITS[state.kind])}**{of_all}", name="decided_text")
        pages = {
            "Queue": self._render_queue,
            "Training list": self._render_training,
            "Guideline": self._render_questions,
            "Results": self._render_results,
        }
        pages[self.page(ctx)](panel, ctx)

    def _render_queue(self, panel: types.Object, ctx: Context) -> None:
        state = ctx.panel.state
        if not state.queued_ids:
            panel.md("No unit in dispute is open here.", name="nothing")
        else:
            row = add_row(panel, "ways", "150px")
            label = "Open the next dispute"
            row.btn("next", label=label, icon="gavel", on_click=self.to(self.open_next), variant="contained")
            self._add_view(row, "open", "Show the open ones")
        self._add_done(panel, ctx)
        if state.queued_ids:
            label = "Next in the queue, the least agreement first: click one to decide beside the image"
            add_table(panel, "queue", label, QUEUE[state.kind], self.to(self.click_queued))

    def _add_done(self, panel: types.Object, ctx: Context) -> None:
        progress = ctx.panel.state.progress
        row = add_row(panel, "done", "150px")
        for state in ("waiting", "decided"):
            if progress[state]:
                self._add_view(row, state, f"Show the {count_text(progress[state])} {state}")

    def _add_view(self, row: types.Object, state: str, label: str) -> None:
        row.btn(state, label=label, icon="grid_view", on_click=self.to(self.show_queue), params={"which": state})

    def _render_training(self, panel: types.Object, ctx: Context) -> None:
        if not ctx.panel.state.trained:
            panel.md("Nobody was decided against yet.", name="nothing")
            return
        label = "Who was decided against, on what: click a row to see these labels"
        add_table(panel, "training", label, TRAINING, self.to(self.click_trained))

    def _render_questions(self, panel: types.Object, ctx: Context) -> None:
        state = ctx.panel.state
        panel.md(f"*{NOT_IN_LENS}*", name="not_in_lens")
        if not state.asked_labels:
            text = "No question yet: *The guideline must say* beside an open sample asks one, with your note."
            panel.md(text, name="nothing")
            return
        self._add_view(add_row(panel, "ways", "150px"), "waiting", "Show them in the grid")
        label = "Questions to the guideline: click one to open its image"
        add_table(panel, "questions", label, QUESTIONS, self.to(self.click_asked))
        panel.md(f"Copy as Markdown:\n\n~~~~markdown\n{state.markdown}~~~~", name="copy")

    def _render_results(self, panel: types.Object, ctx: Context) -> None:
        offered = RESULTS if ctx.panel.state.kind == self.KIND else OF_REGIONS
        for operator, (label, icon, use) in ((name, RESULTS[name]) for name in offered):
            given = {"operator": operator, "given": {"key": ctx.panel.state.run}}
            panel.btn(
                operator, label=label, icon=icon, on_click=f"{WORKBENCH}#prompt", params=given, variant="outlined"
            )
            panel.md(use, name=f"{operator}_use")

    # ---- clicks ----

    @guarded
    def change_kind(self, ctx: Context) -> None:
        state = ctx.panel.state
        state.decided_kind = state.kind = ctx.params["value"]
        self.load_again(ctx)

    @guarded
    def open_next(self, ctx: Context) -> None:
        lens = self.lens(ctx)
        following = kf.next_dispute(ctx.dataset, ctx.panel.state.run, category=lens.category, rater=lens.rater)
        if following is None:  # somebody was quicker
            self.load_again(ctx)
        else:
            self._open(ctx, following)

    @guarded
    def click_queued(self, ctx: Context) -> None:
        self._open(ctx, ctx.panel.state.queued_ids[ctx.params["row"]])

    def _open(self, ctx: Context, sample_id: str) -> None:
        """A sample of the queue; beside it, *Next* stays within the lens."""
        lens = self.lens(ctx)
        remember_queue(ctx, ctx.panel.state.run, lens.category, lens.rater)
        open_sample(ctx, sample_id)

    @guarded
    def show_queue(self, ctx: Context) -> None:
        which, lens = ctx.params["which"], self.lens(ctx)
        view = view_of_queue(ctx.dataset, ctx.panel.state.run, lens.category, lens.rater, which)
        words = {
            "open": "with open disputes",
            "waiting": "waiting for the guideline",
            "decided": "with decided units",
        }
        self.show(ctx, view, f"images {words[which]}")

    @guarded
    def click_trained(self, ctx: Context) -> None:
        state, row = ctx.panel.state, ctx.params["row"]
        rater, gave = state.trained[row]
        view = view_of_units(ctx.dataset, state.run, state.trained_labels[row])
        self.show(ctx, view, f"images where {rater} gave {gave} and it was decided otherwise")

    @guarded
    def click_asked(self, ctx: Context) -> None:
        state = ctx.panel.state
        view = view_of_units(ctx.dataset, state.run, state.asked_labels[ctx.params["row"]])
        found = view.limit(1).values("id")
        if found:
            open_sample(ctx, found[0])
        else:
            ctx.ops.notify("The labels of this question were deleted since.", variant="warning")


def _kinds(analysis: Analysis) -> list[str]:
    """The kinds of its runs that have units in dispute."""
    runs = analysis.runs
    return [kind for kind in QUEUE if kind in runs and (kind != "pixels" or has_regions(runs[kind]))]


def _headline(progress: dict[str, int], unit: str) -> str:
    """How many units in dispute are decided, as a bar and in words."""
    count = progress["all"]
    if not count:
        return "The raters agree about every unit: there is nothing to decide."
    done = round(10 * progress["decided"] / count)
    waiting = f", {count_text(progress['waiting'])} waiting for the guideline" if progress["waiting"] else ""
    bar = "▰" * done + "▱" * (10 - done)
    decided = f"{count_text(progress['decided'])} of {number_of(count, f'{unit} in dispute')} decided"
    return f"{bar} {decided}{waiting}, {count_text(progress['open'])} open"
