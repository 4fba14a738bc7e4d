"""Watching a run that another process measures: following its files, and serving its report on the web."""
