"""The sections of the workbench that Python describes; the App's renderer draws them inside the view."""
