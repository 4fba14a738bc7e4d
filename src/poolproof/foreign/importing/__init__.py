"""Importing other people's results as a run directory."""
