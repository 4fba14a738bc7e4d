"""Statistics of samples: pure functions on sequences of numbers that know nothing of trials, cells or campaigns."""
