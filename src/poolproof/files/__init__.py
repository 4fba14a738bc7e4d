"""Access to files that another user may have prepared, without following links and with a limit on their size."""
