"""Results of others as a run directory: which is which layout and workload, and the rows of trials.jsonl."""
