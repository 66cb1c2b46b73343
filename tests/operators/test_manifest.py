"""The manifest fiftyone.yml matches what FiftyOne loads."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import threading
import warnings
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace

import fiftyone as fo
import fiftyone.operators as foo
import fiftyone.plugins as fop
import pytest
import yaml
from fiftyone.operators.registry import OperatorRegistry

import kalos_core
from tests.plugin import NAME, ROOT
from tests.tiers import extended

MANIFEST = yaml.safe_load((ROOT / "fiftyone.yml").read_text(encoding="utf-8"))


def test_names_are_those_that_register_registers():
    found = {operator.name: operator for operator in foo.list_operators(builtin=False)}
    assert set(found) == {*MANIFEST["operators"], *MANIFEST["panels"]}
    assert {operator.plugin_name for operator in found.values()} == {NAME}
    panels = {name for name, operator in found.items() if isinstance(operator, foo.Panel)}
    assert panels == set(MANIFEST["panels"])
    for kind in ("operators", "panels"):  # FiftyOne silently ignores names that are not listed
        registered: list[type] = []
        module = type(found[MANIFEST[kind][0]]).__module__.rpartition(f".{kind}.")[0]
        sys.modules[f"{module}.{kind}"].register(SimpleNamespace(register=registered.append))
        assert {entry().name for entry in registered} == set(MANIFEST[kind])
    for operator in found.values():
        icon = operator.config.icon
        assert (ROOT / icon.lstrip("/")).is_file() if icon.startswith("/") else icon == "groups"  # of Material


def test_it_is_loaded_once_without_errors_and_with_one_copy_of_the_library(monkeypatch):
    assert [plugin.name for plugin in fop.list_plugins(builtin=False)] == [NAME]
    monkeypatch.setattr(fo.config, "plugins_cache_enabled", False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert OperatorRegistry().list_errors() == []
    assert [name for name in sys.modules if name.endswith("kalos_core") and name != "kalos_core"] == []


def test_version_is_that_of_the_library():
    assert MANIFEST["version"] == kalos_core.__version__
    assert yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))["version"] == kalos_core.__version__
    assert f"\n## [{kalos_core.__version__}]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert MANIFEST["name"] == NAME


def test_a_library_of_another_version_is_warned_of(monkeypatch):
    monkeypatch.setattr(fo.config, "plugins_cache_enabled", False)  # force a reload
    monkeypatch.setattr(kalos_core, "__version__", "99.0")
    with pytest.warns(UserWarning, match=r"kalos_core 99.0 .* does not belong to the plugin"):
        foo.get_operator(f"{NAME}/delete_run")


@extended
def test_the_archive_of_a_release_can_be_downloaded_as_a_plugin(tmp_path):
    changed = subprocess.run(["git", "stash", "create"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    command = ["make", "--no-print-directory", "plugin", f"DIST={tmp_path / 'web'}"]
    subprocess.run([*command, f"REVISION={changed.strip() or 'HEAD'}"], cwd=ROOT, check=True, capture_output=True)
    (archive,) = (tmp_path / "web").iterdir()
    handler = partial(SimpleHTTPRequestHandler, directory=str(archive.parent))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as web:
        threading.Thread(target=web.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{web.server_port}/{archive.name}"
        packages = sysconfig.get_path("purelib")  # without the library, with -S, if that is installed as editable
        own = {**os.environ, "FIFTYONE_PLUGINS_DIR": str(tmp_path / "plugins"), "PYTHONPATH": packages}
        command = [sys.executable, "-S", "-c", DOWNLOAD, address, NAME]
        done = subprocess.run(command, env=own, capture_output=True, text=True, timeout=180, cwd=tmp_path)
        web.shutdown()
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.splitlines()[-1] == f"{len(MANIFEST['operators'])} {len(MANIFEST['panels'])}"


DOWNLOAD = """
import sys
from pathlib import Path
import fiftyone as fo, fiftyone.operators as foo, fiftyone.plugins as fop
from fiftyone.operators.registry import OperatorRegistry
fop.download_plugin(sys.argv[1])
(plugin,) = fop.list_plugins(builtin=False)
assert plugin.name == sys.argv[2] and Path(plugin.directory).is_relative_to(fo.config.plugins_dir), plugin
assert OperatorRegistry().list_errors() == [], OperatorRegistry().list_errors()
import kalos_core
assert Path(kalos_core.__file__).is_relative_to(plugin.directory), kalos_core
found = foo.list_operators(builtin=False)
panels = [one for one in found if isinstance(one, foo.Panel)]
print(len(found) - len(panels), len(panels))
"""


@pytest.mark.parametrize("word", ["annotator", "agreement", "error", "import", "disagreement"])
def test_the_operator_browser_finds_us(word: str) -> None:
    """It searches the typed text in the label, the URI and the description (FiftyOne 1.22, `src-*.js`)."""
    listed = [operator.config for operator in foo.list_operators() if operator.plugin_name == "@kalos/variation"]
    shown = [config for config in listed if not config.unlisted]
    assert any(word in f"{config.label}\n{config.description}".lower() for config in shown)
