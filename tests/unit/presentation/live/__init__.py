"""Watching a run that is in progress in another process: its files, and the web server."""
