"""The counters of every layer during a trial, and the facts about its target and test files."""
