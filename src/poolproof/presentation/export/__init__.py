"""Export runs to the formats of other programs, all based on the same rows. See docs/export.md for the formats."""
