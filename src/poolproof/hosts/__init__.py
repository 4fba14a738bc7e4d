"""The machines on which commands run: this machine, or a remote one over SSH."""
