"""Watching a run that goes on in another process: its files followed, and a web server that shows its page live."""
