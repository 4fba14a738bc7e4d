"""Follow a run in progress in another process, and serve its report over HTTP."""
