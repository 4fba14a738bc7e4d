"""Load generators, the loads that they run, and the results that they measure."""
