"""The machines on which commands run: this one, or another one over SSH."""
