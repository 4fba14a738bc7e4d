"""Export runs to the formats of other programs.

All formats are based on the same rows and described in docs/export.md.
"""
