"""Export of a run to the formats of other programs, described in docs/export.md. All formats use the same rows."""
