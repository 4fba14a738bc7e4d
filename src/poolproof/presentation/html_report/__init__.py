"""The HTML report of a run: a single file that contains its own data, scripts and styles."""
