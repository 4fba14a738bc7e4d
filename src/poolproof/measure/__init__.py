"""The measurement protocol: fill, drop caches, wait until idle, measure, drain, judge, repeat."""
