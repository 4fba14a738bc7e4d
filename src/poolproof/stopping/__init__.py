"""The stopping rule: checkpoints, the confidence interval of a trial, and the mean over trials (docs/stopping.md)."""
