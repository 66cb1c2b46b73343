"""The version of the library and of the plugin."""

__version__ = "0.2.0"
