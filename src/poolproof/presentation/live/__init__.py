"""Watch a run that is in progress in another process: follow its files, and serve its report on the web."""
