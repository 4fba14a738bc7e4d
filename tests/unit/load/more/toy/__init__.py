"""A load generator in a single folder, based on a Python script that writes a file."""
