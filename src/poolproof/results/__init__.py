"""Run directories, comparisons between runs, and SQL queries over many runs."""
