"""The version of poolproof."""

__version__ = "0.1.0"
