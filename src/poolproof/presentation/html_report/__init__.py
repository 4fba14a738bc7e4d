"""The HTML report of a run: a single self-contained file that includes its data, scripts and styles."""
