"""Ranking of detectors under each reference: the run that ranks score maps or models, and its figures."""
