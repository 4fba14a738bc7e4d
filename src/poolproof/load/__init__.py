"""Load generators, the loads that they run, and the outcomes that they measure."""
