"""Plan the steps of a layout, check them, run them, and undo them from the journal."""
