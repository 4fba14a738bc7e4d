"""Export runs to the formats of other programs, all based on the same rows. The formats are described in
docs/export.md.
"""
