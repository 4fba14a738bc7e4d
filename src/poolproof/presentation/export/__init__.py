"""Export a run to the formats of other programs, all from the same rows; docs/export.md describes them."""
