"""Version of the library and of the plugin."""

__version__ = "1.0.0"
