"""Kinds of runs, one package each. Importing its `kind` module registers the kind.

A kind declares what it reads, how it computes, what it stores and writes, its views and its figures.
"""
