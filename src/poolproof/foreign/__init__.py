"""Jobs and results of other people: lint, audit and import."""
