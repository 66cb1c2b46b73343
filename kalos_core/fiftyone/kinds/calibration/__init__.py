"""Calibration: from which similarity on two annotations may be of the same object."""
