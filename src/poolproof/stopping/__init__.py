"""When a trial or a cell has converged: checkpoints, the interval of one trial, trials together."""
