"""Faults that a run must survive. Each fault is one module with `inject`, `expect` and `clean`.

`python -m tests.faults` runs them all (as root). A new fault is a new file: it is found by its name.
"""
