"""Parse shell scripts: words, branches, variables and functions."""
