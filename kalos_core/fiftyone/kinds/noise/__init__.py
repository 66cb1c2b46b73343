"""Synthetic raters: generated from a reference and written like other raters, with their ground truth."""
