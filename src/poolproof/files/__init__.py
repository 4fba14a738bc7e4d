"""Access to files that another user may have prepared, without following links and up to a maximum size."""
