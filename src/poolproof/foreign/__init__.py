"""Other people's jobs and results: lint, audit and import."""
