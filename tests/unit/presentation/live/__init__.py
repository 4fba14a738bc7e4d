"""Watching a run of another process: its files, and the web server."""
