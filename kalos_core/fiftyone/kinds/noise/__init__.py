"""Synthetic raters: generated from a reference, written as raters like any others, with what is true of them."""
