"""Counters of the levels of the storage stack during a trial, and facts about the trial's target and test files."""
