"""Plans the steps that build a layout, checks and runs them, and undoes them from the journal."""
