"""Observations of noise, maximum-likelihood distributions, and tests of their fit (KαLOS §9.2, §9.3)."""
