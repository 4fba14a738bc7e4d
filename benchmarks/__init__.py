"""Measure what poolproof itself costs, as ratios within one run: `make bench`."""
