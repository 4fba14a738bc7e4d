"""What poolproof itself costs, as ratios measured within one run: `make bench`."""
