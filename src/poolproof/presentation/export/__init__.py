"""A run in the formats of other programs: one file per format, all made from the same rows; docs/export.md."""
