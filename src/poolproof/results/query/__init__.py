"""Query the trials of many runs with SQL, using DuckDB. The views are described in docs/query.md."""
