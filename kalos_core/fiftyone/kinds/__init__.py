"""The kinds of runs, each a slice of its own. Importing its `kind` enters it into the table.

A kind says what it reads, how it computes, what it stores and writes, what a click leads to and what it shows.
"""
