"""The history of cells over many runs: what changed, when, and with which versions."""
