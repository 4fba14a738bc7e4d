"""Measure what poolproof itself costs, mostly as ratios within one run of `make bench`."""
