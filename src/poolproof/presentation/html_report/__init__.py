"""The HTML report of a run: one self-contained file with its data, template, scripts and styles."""
