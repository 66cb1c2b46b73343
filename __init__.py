"""Entry point of the plugin, kept small because FiftyOne runs it on every look-up of operators."""


def register(plugin):
    import os
    import warnings

    from fiftyone.core.utils import add_sys_path

    folder = os.path.dirname(os.path.abspath(__file__))
    try:
        import kalos_core  # an installed copy, shared with notebooks
    except ImportError:
        with add_sys_path(folder):
            import kalos_core  # else the copy next to this file

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
