"""What operators share: run from the App with a progress bar, from the SDK with a return value, or delegated.

FiftyOne shows a progress bar only for operators that answer a generator, and drops a generator's return value. So a
call from the App is streamed, and any other returns its summary like a function. A delegated operation stores its
progress on the operation.
"""

import math
import queue
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar, Generic, TypeAlias, TypeVar

import fiftyone.core.collections as foc
import fiftyone.operators as foo
import fiftyone.operators.types as types
from fiftyone.operators.executor import ExecutionResult

import kalos_core.fiftyone as kf
from kalos_core import InputError, KalosError, KalosWarning
from kalos_core.fiftyone.app import ARRANGED as SENT_BY_THE_APP
from kalos_core.fiftyone.app import download, open_panels, reload_dataset
from kalos_core.fiftyone.deciding.kinds import is_decidable
from kalos_core.fiftyone.runs.keys import free_run_key
from kalos_core.fiftyone.runs.table import Kind, Run
from kalos_core.options import Declared, arguments_of, declared_by
from kalos_core.text import names_shown, plain, shown

from . import forms, widgets
from .widgets import Context

PLUGIN = "@kalos/variation"

NOTHING = "Nothing was written"
"""Above the summary of what was refused, and an entry of it."""

ESTIMATE = "estimate"
"""The switch that shows a model of who is right."""

PANEL = "raters"
"""The panel that shows analyses."""

RunOfKind = TypeVar("RunOfKind", bound="Run[Any, Any, Any, Any]")
"""What an analysis stores: a run of its own kind."""

AnyKind: TypeAlias = "Kind[Any, Any, Any, Any]"
"""Any kind of run."""

Progress: TypeAlias = Callable[[float, str], Any]
Work: TypeAlias = Callable[[Progress], dict[str, Any]]
"""Answers plain values, with what people are to read under ``text``."""


class Action(foo.Operator):
    """What all operators share: their configuration, the frame of their form and the form of their summary.

    A subclass says `NAME`, `LABEL`, `DESCRIPTION`, `ICON` and `RESULT` (above the summary), fills the form in
    `add_inputs`, and works in `execute`. What `run` executes is `STREAMED`. `FUNCTION` is the one it calls, where
    that has another name; `KEY_NAME` what that calls a key. `ask` asks for the options of the function: `HIDDEN` are
    those that a switch of the form hides, `OVERRIDES` what the form says in place of what is declared, and `TYPED` how
    those are read that are typed as text.
    """

    NAME = LABEL = DESCRIPTION = ICON = RESULT = ""
    FUNCTION = ""
    STREAMED = True
    KEY_NAME = "run_key"
    HIDDEN: ClassVar[Mapping[str, Sequence[str]]] = {}
    OVERRIDES: ClassVar[Mapping[str, Mapping[str, Any]]] = {}
    TYPED: ClassVar[Mapping[str, widgets.Read]] = {}

    @property
    def config(self) -> foo.OperatorConfig:
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

    def add_inputs(self, ctx: Context, inputs: types.Object) -> None:
        raise NotImplementedError

    def resolve_input(self, ctx: Context) -> types.Property:
        inputs = types.Object()
        self.add_inputs(ctx, inputs)
        return types.Property(inputs, view=types.View(label=self.LABEL))

    def resolve_output(self, ctx: Context) -> types.Property:
        """None of a stream, whose summary is shown already: a second dialog would be empty."""
        found = ctx.results
        return _form(NOTHING if NOTHING in found else self.RESULT) if found else types.Property(types.Object())

    @cached_property
    def declared(self) -> dict[str, Declared]:
        """Name -> option of its function, without those that say which labels are read."""
        selected = kf.Selection.declared()
        return {entry.name: entry for entry in declared_by(getattr(kf, self.NAME)) if entry not in selected}

    def ask(self, ctx: Context, inputs: types.Object, *names: str, **own: Any) -> types.Property:
        """Ask for options as they are declared, but for `OVERRIDES` and `own`, and for those that one shows once on.

        Returns
        -------
        Property
            The input of the last.
        """
        for name in names:
            about = {"read": self.TYPED.get(name), **self.OVERRIDES.get(name, {}), **own}
            prop = widgets.add_option(ctx, inputs, self.declared[name], **about)
            if ctx.params.get(name) and name in self.HIDDEN:
                self.ask(ctx, inputs, *self.HIDDEN[name])
        return prop

    def check_params(self, ctx: Context) -> None:
        """Refuse arguments that neither the function of its name nor the form has; what the App sends is its form's."""
        if SENT_BY_THE_APP in ctx.request_params:
            return
        known = {*arguments_of(getattr(kf, self.FUNCTION or self.NAME)), *self._form_names(ctx)}
        unknown = sorted(set(ctx.params) - known)
        if unknown:
            expected = ", ".join(sorted(known - {"samples", "progress"}))
            raise InputError(f"{self.NAME}: expected arguments among {expected}, got {', '.join(unknown)}")

    def _form_names(self, ctx: Context) -> set[str]:
        """The inputs of the form as it is, and as it is with every switch on."""
        given, found = dict(ctx.params), dict[str, Any]()
        for _ in range(2):
            found |= self.resolve_input(ctx).type.properties
            ctx.params.update({name: True for name, entry in found.items() if isinstance(entry.type, types.Boolean)})
        ctx.params.clear()
        ctx.params.update(given)
        return set(found)

    def __call__(self, samples: foc.SampleCollection, run_key: str, **params: Any) -> ExecutionResult:
        """Run from a notebook: `foo.get_operator("@kalos/variation/compute_agreement")(view, "first")`."""
        return foo.execute_operator(self.uri, {"view": samples.view()}, params={self.KEY_NAME: run_key, **params})


class OfRun(Action):
    """An operator that calls the function of its name on a run: a subclass adds options, and sums up.

    `KIND`: of which kind it is, the newest by default; "" of any, none by default.
    """

    STREAMED = False
    KIND = ""

    def add_options(self, ctx: Context, inputs: types.Object, key: str) -> None:
        """What its function takes besides the key."""

    def summary(self, params: Mapping[str, Any], found: Any) -> dict[str, Any]:
        """What is answered to what the function answered; the key is among the params."""
        raise NotImplementedError

    def call(self, ctx: Context, key: str, given: dict[str, Any]) -> Any:
        """Call the function of its name."""
        return getattr(kf, self.NAME)(ctx.dataset, key, **given)

    def runs(self, dataset: Any) -> list[Run[Any, Any, Any, Any]]:
        """Those that it can be called on, the one that is proposed first."""
        return [run for run in kf.list_runs(dataset, self.KIND or None, info=True) if not run.unreadable]

    def add_inputs(self, ctx: Context, inputs: types.Object) -> None:
        runs = [] if ctx.dataset is None else self.runs(ctx.dataset)
        kinds = {run.key: run.title for run in runs}
        options = {"descriptions": kinds, "required": not self.KIND}
        key = forms.add_run(ctx, inputs, list(kinds), self.KIND or "run", self.KEY_NAME, **options)
        if key is not None:
            self.add_options(ctx, inputs, key)

    def execute(self, ctx: Context) -> dict[str, Any]:
        try:
            return self._execute(ctx)
        except KalosError as error:
            if SENT_BY_THE_APP not in ctx.request_params:
                raise
            return {NOTHING: True, "text": problem(error)}  # of an exception the App shows that there was one

    def _execute(self, ctx: Context) -> dict[str, Any]:
        self.check_params(ctx)
        takes = arguments_of(getattr(kf, self.NAME))  # the App adds the panel that asked, and what it is given
        given = {name: value for name, value in ctx.params.items() if value is not None and name in takes}
        key = given.pop(self.KEY_NAME, None)
        if not key:
            key = next((run.key for run in (self.runs(ctx.dataset) if self.KIND else ())), "")
        found = self.call(ctx, key, given)
        reload_dataset(ctx)
        reload_panels(ctx)
        return {self.KEY_NAME: key, **self.summary({self.KEY_NAME: key, **given}, found)}


class OfAgreement(OfRun):
    """An operator that does something with an agreement; with one of other `KINDS` where there is none of objects."""

    KIND = "agreement"
    KEY_NAME = "key"
    KINDS: ClassVar[Sequence[str]] = (KIND,)

    def runs(self, dataset: Any) -> list[Run[Any, Any, Any, Any]]:
        found = [run for run in kf.list_runs(dataset, self.KINDS, info=True) if is_decidable(run)]
        return sorted(found, key=lambda run: self.KINDS.index(run.kind))


MEDIA = {".csv": "text/csv", ".html": "text/html", ".json": "application/json"}
"""Ending of a file -> its media type."""


class Download(OfAgreement):
    """An operator whose function writes a file: downloaded in the browser, or written where a path says.

    `ENDING` is the ending of its name; `stem` answers the default name without ending.
    """

    ENDING = ""

    def ending(self, dataset: Any, key: str) -> str:
        """The ending of its name."""
        return self.ENDING

    def stem(self, dataset: Any, key: str) -> str:
        """The name of the file without its ending."""
        raise NotImplementedError

    def add_options(self, ctx: Context, inputs: types.Object, key: str) -> None:
        about = (
            f"Empty: your browser downloads {plain(self._file(ctx, key))}. A path writes it on the computer that runs "
            "FiftyOne; a file of that name is replaced"
        )
        inputs.str("path", label="File", description=about)

    def _file(self, ctx: Context, key: str) -> str:
        name = re.sub(r"[^\w.-]+", "_", self.stem(ctx.dataset, key))
        return f"{name}.{self.ending(ctx.dataset, key)}"

    def call(self, ctx: Context, key: str, given: dict[str, Any]) -> Path:
        path = (given.pop("path", None) or "").strip()
        write = getattr(kf, self.NAME)
        if path:
            return Path(write(ctx.dataset, key, path, **given))
        if SENT_BY_THE_APP not in ctx.request_params:
            raise InputError(f"{self.NAME}: expected the path of a file, as no browser would download it, got none")
        with TemporaryDirectory() as folder:
            written = Path(write(ctx.dataset, key, Path(folder, self._file(ctx, key)), **given))
            download(ctx, written.name, MEDIA[written.suffix], written.read_bytes())
        return Path(written.name)

    def summary(self, params: Mapping[str, Any], found: Path) -> dict[str, Any]:
        done = "Written to" if params.get("path") else "Downloaded as"
        return {**params, "path": str(found), "text": f"{done} {shown(str(found), None)}."}


class Analysis(Action, Generic[RunOfKind]):
    """An operator that reads the labels of a view, calls the function of its name, and shows the run it stored.

    What it makes and which panel shows it stands in `KINDS`. A subclass adds its own options in `add_options` and sums
    the run up in `summary`; `settings` is for options that are no arguments of the function as they stand. `KEY` is
    the run key to propose, where it is not the kind's name. From an `amount_of_work` of `DELEGATED_FROM` on, scheduling
    is the form's first option.
    """

    KEY = ""
    DELEGATED_FROM: float = math.inf

    @property
    def kind(self) -> AnyKind:
        """The kind of run it makes."""
        return next(kind for kind in kf.KINDS.values() if kind.operator == self.NAME)

    @property
    def key(self) -> str:
        """The run key to propose, if it is free."""
        return self.KEY or self.kind.name

    def amount_of_work(self, ctx: Context) -> float:
        """How much there is to do with these options; there is a data set."""
        return len(ctx.target_view())

    def resolve_execution_options(self, ctx: Context) -> foo.ExecutionOptions:
        much = ctx.dataset is not None and self.amount_of_work(ctx) >= self.DELEGATED_FROM
        return foo.ExecutionOptions(
            allow_immediate_execution=True, allow_delegated_execution=True, default_choice_to_delegated=much
        )

    def add_inputs(self, ctx: Context, inputs: types.Object) -> None:
        forms.check_view(ctx, inputs)
        if self.add_selection(ctx, inputs):
            self.add_options(ctx, inputs)
            forms.add_run_key(ctx, inputs, self.key)

    def add_selection(self, ctx: Context, inputs: types.Object) -> bool:
        """Which labels are read. False where there is nothing to analyse."""
        return forms.add_selection(ctx, inputs)

    def add_options(self, ctx: Context, inputs: types.Object) -> None:
        """How they are analysed."""

    def add_model(self, ctx: Context, inputs: types.Object, name: str, about: str, needs: str) -> None:
        """A switch to estimate who is right, and by which model."""
        if widgets.is_on(ctx, inputs, ESTIMATE, label="Estimate who is right, and how sure", description=about):
            label = "How raters are taken to answer"
            self.ask(ctx, inputs, name, default="confusion", label=label, description=needs)

    def selection(self, ctx: Context) -> kf.Selection:
        """What `add_selection` selects."""
        return forms.read_selection(ctx)

    def settings(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments of the function that are given by their names, and not hidden by a switch that is off again."""
        hidden = {name for switch, names in self.HIDDEN.items() if params.get(switch) is False for name in names}
        found = widgets.given(params, *[name for name in self.declared if name not in hidden])
        found = {name: widgets.typed(self.TYPED.get(name), value, name) for name, value in found.items()}
        return found | (forms.read_threshold(params) if "threshold" in self.declared else {})

    def analyse(self, samples: foc.SampleCollection, run_key: str, **settings: Any) -> RunOfKind:
        stored: RunOfKind = getattr(kf, self.NAME)(samples, run_key, **settings)
        return stored

    def summary(self, run: RunOfKind) -> str:
        raise NotImplementedError

    def execute(self, ctx: Context) -> dict[str, Any] | Iterator[Any]:
        self.check_params(ctx)
        params, samples = ctx.params, ctx.target_view()
        settings = self.settings(params)

        def work(progress: Progress) -> dict[str, Any]:
            key = params.get("run_key") or free_run_key(ctx.dataset, self.key)
            selected = self.selection(ctx).arguments()
            stored = self.analyse(samples, key, progress=progress, **{**selected, **settings})
            return {"run_key": key, **stored.metrics, "text": self.summary(stored)}

        return run(ctx, work, then=written(ctx, self.kind.section))


def run(ctx: Context, work: Work, *, then: Sequence[Callable[[], Any]] = ()) -> dict[str, Any] | Iterator[Any]:
    """The summary that `work` answers; as a stream for the App.

    `then` are functions of no arguments that answer an operation for the App once the work is done.
    """
    if SENT_BY_THE_APP in ctx.request_params and not ctx.delegated:
        return _stream(ctx, work, then)
    return _noting_warnings(work, lambda share, label: ctx.set_progress(progress=share, label=label))


def written(ctx: Context, section: str = "") -> list[Callable[[], Any]]:
    """Operations that bring up what a run wrote: in the grid and the sidebar, arranged, and in the workbench."""

    def reload() -> Any:
        if ctx.dataset.app_config.sidebar_groups is None:  # its fields would stand among all others, none in the grid
            kf.arrange_app(ctx.dataset)
        return reload_dataset(ctx)

    return [reload, *showing(ctx, section)]


def showing(ctx: Context, section: str = "") -> list[Callable[[], Any]]:
    """Operations that bring up the workbench with the new run; where it is open already, in the run's section."""
    given = {"section": section} if section else {}
    panels = [entry for entry in _own_panels(ctx) if entry[0] == PANEL]
    loading: list[Callable[[], Any]] = [partial(_reload, ctx, *entry, **given) for entry in panels]
    return loading or [lambda: ctx.ops.open_panel(PANEL, layout="horizontal")]  # of this panel it would open another


def reload_panels(ctx: Context) -> None:
    """Let the open panels of this plugin take up what has changed."""
    for entry in _own_panels(ctx):
        _reload(ctx, *entry)


def _reload(ctx: Context, name: str, panel_id: str, **given: str) -> Any:
    return ctx.trigger(f"{PLUGIN}/{name}", params={"panel_id": panel_id, "__method__": "reload", **given})


def _own_panels(ctx: Context) -> list[tuple[str, str]]:
    """Names and ids of the open panels of this plugin."""
    found = open_panels(ctx)
    if not found:
        return []
    own = {panel.name for panel in foo.list_operators(type="panel") if panel.plugin_name == PLUGIN}
    return [(name, panel_id) for name, panel_id in found if name in own]


def _form(label: str) -> types.Property:
    shown = types.Object()
    shown.str("text", view=types.MarkdownView())
    return types.Property(shown, view=types.View(label=label))


def _stream(ctx: Context, work: Work, then: Sequence[Callable[[], Any]]) -> Iterator[Any]:
    updates: queue.Queue[tuple[float, str] | None] = queue.Queue()
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
        result, label = {"text": problem(error)}, NOTHING
        yield ctx.ops.notify(f"{label}: {str(error).splitlines()[0]}", variant="error")
    except Exception as error:  # the App shows nothing of an exception in a stream: notify, then let it be logged
        yield ctx.ops.notify(f"Nothing was written: {type(error).__name__}: {error}", variant="error")
        raise
    else:
        for operation in then:
            yield operation()
    yield ctx.ops.show_output(_form(label).to_json(), result)


def problem(error: KalosError) -> str:
    """An error as text for the App: its first line, and the records below it."""
    first, *rest = names_shown(str(error).splitlines())
    return "\n".join([f"**{NOTHING}.** {first}", *(f"- {line}" for line in rest)])


def _noting_warnings(work: Work, progress: Progress) -> dict[str, Any]:
    """The summary of `work`, with its warnings; those of other libraries go their usual way."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", KalosWarning)  # what becomes of others is for their filters to decide
        result = work(progress)
    notes = list(dict.fromkeys(str(entry.message) for entry in caught if issubclass(entry.category, KalosWarning)))
    for entry in caught:
        if not issubclass(entry.category, KalosWarning):
            warnings.showwarning(entry.message, entry.category, entry.filename, entry.lineno)
    if notes:
        result["warnings"] = notes
        result["text"] += "\n\n" + "\n".join(f"- **Note:** {note}" for note in names_shown(notes))
    return result
