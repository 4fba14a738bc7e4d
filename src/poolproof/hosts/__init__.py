"""The machines on which commands run: this one, or another over SSH."""
