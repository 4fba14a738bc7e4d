"""Plan the steps that build a layout, check them, run them, and undo them from the journal."""
