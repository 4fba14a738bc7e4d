"""Compares two runs cell by cell, and ranks the layouts of a run; docs/compare.md."""
