"""Two runs cell by cell, and the layouts of one run in order: which differences are real; docs/compare.md."""
