"""Read tables and lists of benchmark results."""
