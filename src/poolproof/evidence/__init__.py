"""What the counters of every layer said while fio ran."""
