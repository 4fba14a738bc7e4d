"""Parsers for the output of programs other than fio. Each module with a `READER` parses one format."""
