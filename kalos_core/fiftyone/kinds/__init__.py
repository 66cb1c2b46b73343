"""The kinds of runs, each a slice of its own; importing this package enters all of them into the table.

A kind says what it reads, how it computes, what it stores and writes, what a click leads to and what it shows.
"""
