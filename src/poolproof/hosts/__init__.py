"""The machines that commands run on: this one, or another one over SSH."""
