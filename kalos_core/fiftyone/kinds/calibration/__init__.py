"""Calibration: the smallest similarity at which two annotations may be of the same object."""
