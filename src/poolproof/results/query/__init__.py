"""SQL queries over the trials of many runs, using DuckDB. docs/query.md describes the views."""
