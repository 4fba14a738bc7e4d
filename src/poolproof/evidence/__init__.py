"""The counters of every layer during a trial, and facts about the trial's target and test files."""
