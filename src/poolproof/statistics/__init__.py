"""Statistics of samples: pure functions on sequences of numbers, which know nothing of trials, cells or campaigns."""
