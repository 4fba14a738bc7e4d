"""Runs on disk, comparisons between them, and SQL over many of them."""
