"""Resolved labels: a label field of agreed and decided labels."""
