"""Compare two runs cell by cell, and rank the layouts of a run. See docs/compare.md."""
