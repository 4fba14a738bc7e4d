"""Statistics of samples: pure functions on sequences of numbers, independent of trials, cells and campaigns."""
