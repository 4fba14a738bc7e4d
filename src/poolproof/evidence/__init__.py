"""What the counters of every layer showed during a trial."""
