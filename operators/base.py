"""Base classes of operators, which run from the App with a progress bar, from the SDK, or delegated.

FiftyOne shows a progress bar only for operators that return a generator, and drops the generator's return value. So a
call from the App is streamed, and any other call returns its summary like a function. A delegated operation stores its
progress on the operation.
"""

import math
import queue
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cached_property, partial
from inspect import Parameter
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeAlias, TypeVar, Union

import fiftyone.core.collections as foc
import fiftyone.operators as foo
import fiftyone.operators.types as types
from fiftyone.operators.executor import ExecutionResult

import kalos_core.fiftyone as kf
from kalos_core import InputError, KalosError, KalosWarning
from kalos_core.arguments import check_sent
from kalos_core.errors import Undefined, check_name, or_reason
from kalos_core.fiftyone.app import ARRANGED as SENT_BY_THE_APP
from kalos_core.fiftyone.app import open_panels, reload_dataset
from kalos_core.fiftyone.deciding.kinds import is_decidable
from kalos_core.fiftyone.runs.keys import free_run_key
from kalos_core.fiftyone.runs.table import Kind, Run
from kalos_core.options import Declared, arguments_of, declared_by, types_of
from kalos_core.text import names_shown, plain

from . import files, forms, widgets
from .widgets import Context

PLUGIN = "@kalos/variation"

NOTHING = "Nothing was written"
"""Title of the output of a refused operation, and a key of its results."""

WITHHELD = frozenset({"overwrite"})
"""Arguments of functions that operators do not accept."""

ESTIMATE = "estimate"
"""Name of the switch that shows the models of who is right."""

PANEL = "raters"
"""Name of the panel that shows analyses."""

RunOfKind = TypeVar("RunOfKind", bound="Run[Any, Any, Any, Any]")
"""The kind-specific run that an analysis stores."""

AnyKind: TypeAlias = "Kind[Any, Any, Any, Any]"
"""Any kind of run."""

Progress: TypeAlias = Callable[[float, str], Any]
Work: TypeAlias = Callable[[Progress], dict[str, Any]]
"""Function that returns plain values, with a summary for users under ``text``."""


class Action(foo.Operator):
    """Base class of all operators, with their configuration, the frame of their form, and their output.

    A subclass sets `NAME`, `LABEL`, `DESCRIPTION`, `ICON` and `RESULT` (the title of the output), fills the form in
    `add_inputs`, and does its work in `execute`. An operator that calls `run` is `STREAMED`. `FUNCTION` is the name of
    the called function, if it differs from `NAME`, and `KEY_NAME` the name of its key argument.

    `ask` adds inputs for the options of the function. `HIDDEN` maps a switch of the form to the options that it hides.
    `OVERRIDES` maps an option to declarations that the form replaces. `TYPED` maps an option that is typed as text to
    the function that reads it. `INPUTS` maps an input to its type, if the function has no such argument, or one of
    another type; a final underscore stands for any ending. `FILLED` has the required arguments that the operator fills
    in, in addition to the key.
    """

    NAME = LABEL = DESCRIPTION = ICON = RESULT = ""
    FUNCTION = ""
    STREAMED = True
    KEY_NAME = "run_key"
    HIDDEN: ClassVar[Mapping[str, Sequence[str]]] = {}
    OVERRIDES: ClassVar[Mapping[str, Mapping[str, Any]]] = {}
    TYPED: ClassVar[Mapping[str, widgets.Read]] = {}
    INPUTS: ClassVar[Mapping[str, Any]] = {}
    FILLED: ClassVar[Sequence[str]] = ()

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
        with self.only_fitting(ctx) as unfit:
            self.add_inputs(ctx, inputs)
        for name in inputs.properties.keys() & unfit.keys():
            widgets.refuse(inputs.properties[name], unfit[name])
        return types.Property(inputs, view=types.View(label=self.LABEL))

    def resolve_output(self, ctx: Context) -> types.Property:
        """Return the output form; empty for a stream, whose summary is already shown."""
        found = ctx.results
        return _form(NOTHING if NOTHING in found else self.RESULT) if found else types.Property(types.Object())

    @cached_property
    def declared(self) -> dict[str, Declared]:
        """Name -> option of the called function, without the options that select labels."""
        selected = kf.Selection.declared()
        return {entry.name: entry for entry in declared_by(getattr(kf, self.NAME)) if entry not in selected}

    def ask(self, ctx: Context, inputs: types.Object, *names: str, **own: Any) -> types.Property:
        """Add inputs for options as declared, changed by `OVERRIDES` and `own`, and for options that a switch shows.

        Returns
        -------
        Property
            The last input.
        """
        for name in names:
            about = {"read": self.TYPED.get(name), **self.OVERRIDES.get(name, {}), **own}
            prop = widgets.add_option(ctx, inputs, self.declared[name], **about)
            if ctx.params.get(name) and name in self.HIDDEN:
                self.ask(ctx, inputs, *self.HIDDEN[name])
        return prop

    def check_params(self, ctx: Context) -> None:
        """Refuse arguments of another type, missing ones, and those that neither the function nor the form has.

        Calls from the App may have further arguments, such as the calling panel.
        """
        for message in self.unfit(ctx.params).values():
            raise InputError(message)
        for name in self.required():
            if ctx.params.get(name) is None:
                raise InputError(f"{self.NAME}: expected an argument {name}, got none")
        if SENT_BY_THE_APP in ctx.request_params:
            return
        known = {*self.arguments(), *self._form_names(ctx)}
        unknown = sorted(set(ctx.params) - known)
        if unknown:
            expected = ", ".join(sorted(known - {"samples", "progress"}))
            raise InputError(f"{self.NAME}: expected arguments among {expected}, got {', '.join(unknown)}")

    @property
    def function(self) -> Callable[..., Any]:
        """Called function."""
        called: Callable[..., Any] = getattr(kf, self.FUNCTION or self.NAME)
        return called

    def arguments(self) -> set[str]:
        """Return the arguments of the called function, without those that only Python may use."""
        return set(arguments_of(self.function)) - WITHHELD

    def required(self) -> list[str]:
        """Return the arguments of the called function that have no default and that the operator does not fill in."""
        usual, filled = arguments_of(self.function), {"samples", self.KEY_NAME, *self.FILLED}
        return [name for name in types_of(self.function) if usual[name] is Parameter.empty and name not in filled]

    def unfit(self, params: Mapping[str, Any]) -> dict[str, str]:
        """Return the params of another type than the argument or input of that name, with their messages."""
        kinds = types_of(self.function)
        typed = {name: Union[kinds.get(name, str), str] for name in self.TYPED}  # noqa: UP007 # of types at run time
        kinds = {**kinds, **typed, **forms.INPUTS, **self.INPUTS}
        found = {}
        for name, value in params.items():
            of_prefix = (kind for prefix, kind in kinds.items() if prefix.endswith("_") and name.startswith(prefix))
            reason = or_reason(check_sent, name, kinds.get(name, next(of_prefix, Any)), value)
            if isinstance(reason, Undefined):
                found[name] = reason.reason
        return found

    @contextmanager
    def only_fitting(self, ctx: Context) -> Iterator[dict[str, str]]:
        """Remove the params of another type from the context for a block; yield their messages."""
        given, unfit = dict(ctx.params), self.unfit(ctx.params)
        for name in unfit:
            del ctx.params[name]
        try:
            yield unfit
        finally:
            ctx.params.update(given)

    def _form_names(self, ctx: Context) -> set[str]:
        """Return the names of all inputs of the form, including those shown by switches."""
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
    """Base class of operators that call the function of the same name on a run.

    A subclass adds options and a summary. `KIND` is the kind of run; the newest is the default; "" accepts any
    kind, without a default.
    """

    STREAMED = False
    KIND = ""

    def add_options(self, ctx: Context, inputs: types.Object, key: str) -> None:
        """Add inputs for the arguments of the function other than the key."""

    def summary(self, params: Mapping[str, Any], found: Any) -> dict[str, Any]:
        """Return the summary of the result of the function; `params` include the key."""
        raise NotImplementedError

    def call(self, ctx: Context, key: str, given: dict[str, Any]) -> Any:
        """Call the function of the same name."""
        return getattr(kf, self.NAME)(ctx.dataset, key, **given)

    def runs(self, dataset: Any) -> list[Run[Any, Any, Any, Any]]:
        """Return the runs on which it can be called; the first is the default."""
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
            return {NOTHING: True, "text": problem(error)}  # the App does not show the message of an exception

    def _execute(self, ctx: Context) -> dict[str, Any]:
        self.check_params(ctx)
        takes = self.arguments()  # the App adds the calling panel and its params
        given = {name: value for name, value in ctx.params.items() if value is not None and name in takes}
        key = given.pop(self.KEY_NAME, None)
        if not key:
            key = next((run.key for run in (self.runs(ctx.dataset) if self.KIND else ())), "")
        found = self.call(ctx, key, given)
        reload_dataset(ctx)
        reload_panels(ctx)
        return {self.KEY_NAME: key, **self.summary({self.KEY_NAME: key, **given}, found)}


class OfAgreement(OfRun):
    """Base class of operators on an agreement, or on a run of another of its `KINDS` if there is none on objects."""

    KIND = "agreement"
    KEY_NAME = "key"
    KINDS: ClassVar[Sequence[str]] = (KIND,)

    def runs(self, dataset: Any) -> list[Run[Any, Any, Any, Any]]:
        found = [run for run in kf.list_runs(dataset, self.KINDS, info=True) if is_decidable(run)]
        return sorted(found, key=lambda run: self.KINDS.index(run.kind))


class Download(OfAgreement):
    """Base class of operators whose function writes a file for download in the browser (`files.deliver`).

    `ENDING` is the extension of the file, and `stem` returns the default name without extension.
    """

    ENDING = ""
    FILLED = ("path",)

    def ending(self, dataset: Any, key: str) -> str:
        """Return the extension of the file."""
        return self.ENDING

    def stem(self, dataset: Any, key: str) -> str:
        """Return the name of the file without its extension."""
        raise NotImplementedError

    def add_options(self, ctx: Context, inputs: types.Object, key: str) -> None:
        about = (
            f"Empty: your browser downloads {plain(self._file(ctx, key))}. A name keeps a copy in "
            f"{plain(str(files.folder_for(ctx.dataset)), None)}, too"
        )
        path = inputs.str("path", label="File", description=about)
        ending = Path(self._file(ctx, key)).suffix
        widgets.check(path, lambda: (name := _typed(ctx.params)) and files.place(ctx.dataset, name, "path", ending))

    def _file(self, ctx: Context, key: str) -> str:
        name = re.sub(r"[^\w.-]+", "_", self.stem(ctx.dataset, key))
        return f"{name}.{self.ending(ctx.dataset, key)}"

    def call(self, ctx: Context, key: str, given: dict[str, Any]) -> str:
        name = _typed(given)
        given.pop("path", None)
        write = partial(getattr(kf, self.NAME), ctx.dataset, key, **given)
        return files.deliver(ctx, name, self._file(ctx, key), write)

    def summary(self, params: Mapping[str, Any], found: str) -> dict[str, Any]:
        return {**params, "text": found}


def _typed(params: Mapping[str, Any]) -> str:
    return check_name(params.get("path") or "", "path").strip()


class Analysis(Action, Generic[RunOfKind]):
    """Base class of operators that read the labels of a view, call the function of the same name, and show its run.

    `KINDS` of `kalos_core.fiftyone` says which kind of run the operator makes and where it is shown. A subclass adds
    options in `add_options`, summarizes the run in `summary`, and converts options in `settings` that differ from the
    arguments of the function. `KEY` is the proposed run key, if it differs from the name of the kind. If
    `amount_of_work` reaches `DELEGATED_FROM`, the form proposes to schedule the operation.
    """

    KEY = ""
    DELEGATED_FROM: float = math.inf

    @property
    def kind(self) -> AnyKind:
        """Kind of run that the operator makes."""
        return next(kind for kind in kf.KINDS.values() if kind.operator == self.NAME)

    @property
    def key(self) -> str:
        """Run key to propose, if it is free."""
        return self.KEY or self.kind.name

    def amount_of_work(self, ctx: Context) -> float:
        """Return the amount of work with the current options; a data set must be open."""
        return len(ctx.target_view())

    def resolve_execution_options(self, ctx: Context) -> foo.ExecutionOptions:
        with self.only_fitting(ctx):
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
        """Add inputs that select labels; return False if there is nothing to analyse."""
        return forms.add_selection(ctx, inputs)

    def add_options(self, ctx: Context, inputs: types.Object) -> None:
        """Add inputs for the options of the analysis."""

    def add_model(self, ctx: Context, inputs: types.Object, name: str, about: str, needs: str) -> None:
        """Add a switch to estimate who is right, and a choice of models."""
        if widgets.is_on(ctx, inputs, ESTIMATE, label="Estimate who is right, and how sure", description=about):
            label = "Model of how raters answer"
            self.ask(ctx, inputs, name, default="confusion", label=label, description=needs)

    def selection(self, ctx: Context) -> kf.Selection:
        """Return the selection of the inputs of `add_selection`."""
        return forms.read_selection(ctx)

    def settings(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Return the given arguments of the function, except those hidden by a switch that is off."""
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
    """Run `work` and return its summary, or a stream for the App.

    `then` holds functions without arguments that return operations for the App after the work.
    """
    if SENT_BY_THE_APP in ctx.request_params and not ctx.delegated:
        return _stream(ctx, work, then)
    return _noting_warnings(work, lambda share, label: ctx.set_progress(progress=share, label=label))


def written(ctx: Context, section: str = "") -> list[Callable[[], Any]]:
    """Return operations that show what a run wrote, in the grid, the sidebar and the panel."""

    def reload() -> Any:
        if ctx.dataset.app_config.sidebar_groups is None:  # without groups, its fields are mixed with all others
            kf.arrange_app(ctx.dataset)
        return reload_dataset(ctx)

    return [reload, *showing(ctx, section)]


def showing(ctx: Context, section: str = "") -> list[Callable[[], Any]]:
    """Return operations that show the new run in the panel; an open panel is reloaded in the section of the run."""
    given = {"section": section} if section else {}
    panels = [entry for entry in _own_panels(ctx) if entry[0] == PANEL]
    loading: list[Callable[[], Any]] = [partial(_reload, ctx, *entry, **given) for entry in panels]
    return loading or [lambda: ctx.ops.open_panel(PANEL, layout="horizontal")]  # would open an open panel again


def reload_panels(ctx: Context) -> None:
    """Reload the open panels of this plugin."""
    for entry in _own_panels(ctx):
        _reload(ctx, *entry)


def _reload(ctx: Context, name: str, panel_id: str, **given: str) -> Any:
    return ctx.trigger(f"{PLUGIN}/{name}", params={"panel_id": panel_id, "__method__": "reload", **given})


def _own_panels(ctx: Context) -> list[tuple[str, str]]:
    """Return the names and ids of the open panels of this plugin."""
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
    except Exception as error:  # the App does not show exceptions of a stream: notify, then let it be logged
        yield ctx.ops.notify(f"Nothing was written: {type(error).__name__}: {error}", variant="error")
        raise
    else:
        for operation in then:
            yield operation()
    yield ctx.ops.show_output(_form(label).to_json(), result)


def problem(error: KalosError) -> str:
    """Return an error as text for the App: its first line, followed by the records."""
    first, *rest = names_shown(str(error).splitlines())
    return "\n".join([f"**{NOTHING}.** {first}", *(f"- {line}" for line in rest)])


def _noting_warnings(work: Work, progress: Progress) -> dict[str, Any]:
    """Run `work` and add its warnings to the summary; warnings of other libraries are shown as usual."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", KalosWarning)  # other warnings keep their filters
        result = work(progress)
    notes = list(dict.fromkeys(str(entry.message) for entry in caught if issubclass(entry.category, KalosWarning)))
    for entry in caught:
        if not issubclass(entry.category, KalosWarning):
            warnings.showwarning(entry.message, entry.category, entry.filename, entry.lineno)
    if notes:
        result["warnings"] = notes
        result["text"] += "\n\n" + "\n".join(f"- **Note:** {note}" for note in names_shown(notes))
    return result
