"""Compare two runs cell by cell and rank the layouts of one run; docs/compare.md."""
