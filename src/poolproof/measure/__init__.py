"""The measurement protocol: fill the files, drop caches, wait until idle, measure, drain, judge, repeat."""
