"""Plans the steps that build a layout, checks them, runs them, and undoes them from the journal."""
