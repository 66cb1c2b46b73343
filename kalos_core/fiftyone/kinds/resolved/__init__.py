"""Resolved labels: what raters agree on and what was decided, as a label field."""
