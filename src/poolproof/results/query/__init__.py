"""SQL queries over the trials of many runs, with DuckDB; docs/query.md describes the views."""
