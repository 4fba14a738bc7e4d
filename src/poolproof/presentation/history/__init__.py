"""Cells through many runs: what changed, when, and with which versions."""
