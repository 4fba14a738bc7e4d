"""Export of a run to the formats of other programs. All formats use the same rows. docs/export.md describes them."""
