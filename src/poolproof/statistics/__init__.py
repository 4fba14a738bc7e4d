"""Pure functions on samples: distributions, intervals and tests."""
