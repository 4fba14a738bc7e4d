"""Watching a run of another process: following its files, and serving its report on the web."""
