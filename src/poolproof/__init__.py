"""poolproof: storage benchmarks that prove what they measured."""

__version__ = "0.1.0"
