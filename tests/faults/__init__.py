"""Faults that a run must survive. Each fault is a module with `inject`, `expect` and `clean`.

`python -m tests.faults` (as root) injects all of them. A new module in this folder is found automatically.
"""
