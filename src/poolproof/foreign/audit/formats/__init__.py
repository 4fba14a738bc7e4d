"""Readers of results that programs other than fio print. Each module with a `READER` reads one format."""
