"""A load generator in one folder: a Python script that writes a file."""
