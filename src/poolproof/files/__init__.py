"""Files that another user may have prepared: opened without following links, and read only up to a maximum size."""
