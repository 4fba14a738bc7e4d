"""SQL over the trials of many runs, by DuckDB; docs/query.md has the views."""
