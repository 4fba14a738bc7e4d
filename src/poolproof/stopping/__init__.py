"""The stopping rule: its checkpoints, the interval of a trial, and the mean over trials. See docs/stopping.md."""
