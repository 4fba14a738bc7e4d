"""Watching a run from outside: its files, and the server."""
