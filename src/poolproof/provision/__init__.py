"""Plan the steps that build a layout, check and run them, and undo them from the journal."""
