"""Watch a run in progress in another process: follow its files, and serve its report over HTTP."""
