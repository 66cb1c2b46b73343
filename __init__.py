"""The plugin's entry point. FiftyOne runs this file again on every look-up of operators: it stays this small."""


def register(plugin):
    import os
    import warnings

    from fiftyone.core.utils import add_sys_path

    folder = os.path.dirname(os.path.abspath(__file__))
    try:
        import kalos_core  # an installed copy serves plugin and notebooks alike
    except ImportError:
        with add_sys_path(folder):
            import kalos_core  # else the one beside this file

    with open(os.path.join(folder, "fiftyone.yml"), encoding="utf-8") as manifest:
        if f"version: {kalos_core.__version__}\n" not in manifest.read():
            warnings.warn(
                f"kalos_core {kalos_core.__version__} from {os.path.dirname(kalos_core.__file__)} does not belong to "
                f"the plugin in {folder}: install the same version of both",
                stacklevel=2,
            )
    from . import operators, panels

    operators.register(plugin)
    panels.register(plugin)
