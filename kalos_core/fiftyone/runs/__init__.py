"""Runs: one computation with its configuration, under a key, and everything it wrote."""

from kalos_core.fiftyone.runs.defaults import default_threshold, store_threshold
from kalos_core.fiftyone.runs.keys import RunNames, check_run_key, free_run_key
from kalos_core.fiftyone.runs.stored import (
    Run,
    delete_run,
    list_runs,
    load_figures,
    load_run,
    load_run_view,
    rename_run,
)
from kalos_core.fiftyone.runs.storing import (
    Kind,
    digest_arrays,
    label_schema,
    load_arrays,
    load_diagnostics,
    new_folder,
    pack,
    update_figures,
    writer_of_now,
    writing,
)

__all__ = [
    "Kind",
    "Run",
    "RunNames",
    "check_run_key",
    "default_threshold",
    "delete_run",
    "digest_arrays",
    "free_run_key",
    "label_schema",
    "list_runs",
    "load_arrays",
    "load_diagnostics",
    "load_figures",
    "load_run",
    "load_run_view",
    "new_folder",
    "pack",
    "rename_run",
    "store_threshold",
    "update_figures",
    "writer_of_now",
    "writing",
]
