"""Compare two runs cell by cell, or rank the layouts of one run. See docs/compare.md."""
