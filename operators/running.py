"""Running an analysis from the App with a progress bar, from the SDK with a return value, or delegated.

FiftyOne draws a progress bar only for operators that answer a generator, and drops a generator's return value. So a
call from the App is streamed, and any other returns its summary like a function. A delegated operation stores its
progress on the operation.
"""

import math
import queue
import warnings
from concurrent.futures import ThreadPoolExecutor

import fiftyone.operators as foo
import fiftyone.operators.types as types

import kalos_core.fiftyone as kf
from kalos_core import KalosError, KalosWarning

from . import forms

SENT_BY_THE_APP = "spaces"
"""What only the App sends with a request: how its panels are arranged."""

PLUGIN = "@kalos/variation"


class Action(foo.Operator):
    """What all operators share: their configuration, the frame of their form and the form of their summary.

    A subclass says `NAME`, `LABEL`, `DESCRIPTION`, `ICON` and `RESULT` (above the summary), fills the form in
    `add_inputs`, and works in `execute`. What `run` executes is `STREAMED`.
    """

    NAME = LABEL = DESCRIPTION = ICON = RESULT = ""
    STREAMED = True

    @property
    def config(self):
        return foo.OperatorConfig(
            name=self.NAME,
            label=self.LABEL,
            description=self.DESCRIPTION,
            icon=self.ICON,
            dynamic=True,
            execute_as_generator=self.STREAMED,
            allow_immediate_execution=True,
            allow_delegated_execution=True,
        )

    def resolve_input(self, ctx):
        inputs = types.Object()
        self.add_inputs(ctx, inputs)
        return types.Property(inputs, view=types.View(label=self.LABEL))

    def resolve_output(self, ctx):
        return outputs(ctx, self.RESULT)

    def __call__(self, samples, run_key, **params):
        """Run from a notebook: `foo.get_operator("@kalos/variation/compute_agreement")(view, "first")`."""
        return foo.execute_operator(self.uri, {"view": samples.view()}, params={"run_key": run_key, **params})


class Analysis(Action):
    """An operator that reads the labels of a view, computes, and stores the result under a run key.

    A subclass also says `KIND` (of run; the name of the panel that shows it, too, unless it says `PANEL`), adds its own
    choices in `add_choices`, picks its arguments in `settings`, calls its function in `analyse` and sums it up in
    `summary`. From an `amount_of_work` of `DELEGATED_FROM` on, scheduling is the form's first choice.
    """

    KIND = ""
    PANEL = None
    DELEGATED_FROM = math.inf

    def amount_of_work(self, ctx):
        """How much there is to do with these choices; there is a data set."""
        return len(ctx.target_view())

    def resolve_execution_options(self, ctx):
        much = ctx.dataset is not None and self.amount_of_work(ctx) >= self.DELEGATED_FROM
        return foo.ExecutionOptions(
            allow_immediate_execution=True, allow_delegated_execution=True, default_choice_to_delegated=much
        )

    def add_inputs(self, ctx, inputs):
        forms.check_view(ctx, inputs)
        if forms.add_label_choice(ctx, inputs):
            self.add_choices(ctx, inputs)
            forms.add_run_key(ctx, inputs, self.KIND)

    def choice(self, ctx):
        """Which labels are read."""
        return forms.read_label_choice(ctx)

    def execute(self, ctx):
        params, samples = ctx.params, ctx.target_view()
        settings = self.settings(params)

        def work(progress):
            key = params.get("run_key") or kf.free_run_key(ctx.dataset, self.KIND)
            stored = self.analyse(samples, key, choice=self.choice(ctx), progress=progress, **settings)
            return {"run_key": key, **stored.figures, "summary": self.summary(stored)}

        return run(ctx, work, then=(ctx.ops.reload_dataset, *showing(ctx, self.PANEL or self.KIND)))


def run(ctx, work, *, then=()):
    """`work(progress)` answers a summary: a dict of plain values with the text under ``summary``.

    `then` are functions of no arguments that answer an operation for the App once the work is done.
    """
    if SENT_BY_THE_APP in ctx.request_params and not ctx.delegated:
        return _stream(ctx, work, then)
    return _noting_warnings(work, lambda share, label: ctx.set_progress(progress=share, label=label))


def showing(ctx, panel):
    """Operations that bring up a panel with what was just done: those of it that are open load anew."""
    loading = [lambda where=where: reloading(ctx, panel, where) for where in _open_panels(ctx, panel)]
    return [*loading, lambda: ctx.ops.open_panel(panel, layout="horizontal")]


def reload_panels(ctx, *panels):
    """Let the open panels of these names take up what has changed."""
    for panel in panels:
        for where in _open_panels(ctx, panel):
            reloading(ctx, panel, where)


def reloading(ctx, panel, panel_id):
    return ctx.trigger(f"{PLUGIN}/{panel}", params={"panel_id": panel_id, "__method__": "reload"})


def _open_panels(ctx, panel):
    """Ids of the open panels of a name, wherever in the App's layout."""
    found, waiting = [], [ctx.request_params.get(SENT_BY_THE_APP) or {}]
    while waiting:
        space = waiting.pop()
        if space.get("type") == panel:
            found.append(space["component_id"])
        waiting += space.get("children") or []
    return found


def outputs(ctx, label):
    """The form of a summary; none of a stream, whose summary is shown already: a second dialog would be empty."""
    return _form(label) if ctx.results else types.Property(types.Object())


def _form(label):
    shown = types.Object()
    shown.str("summary", view=types.MarkdownView())
    return types.Property(shown, view=types.View(label=label))


def _stream(ctx, work, then):
    updates = queue.Queue()
    with ThreadPoolExecutor(1) as pool:
        job = pool.submit(_noting_warnings, work, lambda share, label: updates.put((share, label)))
        job.add_done_callback(lambda _: updates.put(None))
        yield ctx.ops.set_progress(progress=0.0, label="Starting")
        while (update := updates.get()) is not None:
            share, label = update
            yield ctx.ops.set_progress(progress=share, label=label)
    try:
        result, label = job.result(), "Done"
    except KalosError as error:
        result, label = {"summary": problem(error)}, "Nothing was written"
        yield ctx.ops.notify(f"{label}: {str(error).splitlines()[0]}", variant="error")
    except Exception as error:  # the App shows nothing of an exception in a stream: say it, then let it be logged
        yield ctx.ops.notify(f"Nothing was written: {type(error).__name__}: {error}", variant="error")
        raise
    else:
        for operation in then:
            yield operation()
    yield ctx.ops.show_output(_form(label).to_json(), result)


def problem(error):
    """An error as text for the App: its first line, and the records below it."""
    first, *rest = str(error).splitlines()
    return "\n".join([f"**Nothing was written.** {first}", *(f"- {line.strip()}" for line in rest)])


def _noting_warnings(work, progress):
    """The summary of `work`, with what it warned of; other warnings go their usual way."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", KalosWarning)  # what becomes of others is for their filters to say
        result = work(progress)
    notes = [str(entry.message) for entry in caught if issubclass(entry.category, KalosWarning)]
    for entry in caught:
        if not issubclass(entry.category, KalosWarning):
            warnings.showwarning(entry.message, entry.category, entry.filename, entry.lineno)
    if notes:
        result["warnings"] = notes
        result["summary"] += "\n\n" + "\n".join(f"- **Note:** {note}" for note in notes)
    return result
