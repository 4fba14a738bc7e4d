"""Readers for the output of programs other than fio. Each module with a `READER` reads one format."""
