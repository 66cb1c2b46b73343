"""What `fiftyone.yml` names is what `register()` registers, from one copy of the library."""

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import fiftyone.operators as foo
import fiftyone.plugins as fop
import yaml
from fiftyone.operators.registry import OperatorRegistry

import kalos_core

ROOT = Path(__file__).resolve().parents[2]
MANIFEST = yaml.safe_load((ROOT / "fiftyone.yml").read_text(encoding="utf-8"))
NAMED = {*MANIFEST["operators"], *MANIFEST["panels"]}


def test_the_manifest_and_register_agree():
    operators = {operator.uri for operator in OperatorRegistry().list_operators(builtin=False)}
    assert operators == {f"{MANIFEST['name']}/{name}" for name in NAMED}
    assert OperatorRegistry().list_errors() == []


def test_register_registers_nothing_the_manifest_hides():
    foo.get_operator(f"{MANIFEST['name']}/compute_agreement")  # imports the plugin
    module = sys.modules["fiftyone.plugins.orgs.kalos.variation"]
    registered = []
    module.register(SimpleNamespace(register=lambda kind: registered.append(kind().config.name)))
    assert sorted(registered) == sorted(NAMED)


def test_version_and_licence_are_those_of_the_library():
    definition = fop.get_plugin(MANIFEST["name"])
    assert definition.version == kalos_core.__version__
    assert definition.license == "Apache-2.0"


def test_the_plugin_uses_the_one_copy_of_the_library():
    operator = foo.get_operator(f"{MANIFEST['name']}/compute_agreement")
    assert sys.modules[type(operator).__module__].kf is sys.modules["kalos_core.fiftyone"]
    assert not [name for name in sys.modules if name.endswith("kalos_core") and name != "kalos_core"]


def test_another_version_of_the_library_is_warned_of(tmp_path):
    """The plugin in one folder, an installed library of another version."""
    (tmp_path / "kalos_core").mkdir()
    (tmp_path / "kalos_core" / "__init__.py").write_text('__version__ = "0.0.1"\n')
    code = f"""
import importlib.util, warnings
import fiftyone.core.utils
spec = importlib.util.spec_from_file_location("plugin", {str(ROOT / "__init__.py")!r})
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    try:
        module.register(None)
    except ImportError:
        pass  # the operators, which need the package FiftyOne makes of the plugin
print([str(entry.message) for entry in caught])
"""
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    run = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert "kalos_core 0.0.1" in run.stdout
    assert "install the same version of both" in run.stdout


def test_the_requirements_beside_the_manifest_are_met():
    fop.ensure_plugin_requirements(MANIFEST["name"])
