"""Watching a run of another process: its files are followed, and a web server shows its page."""
