"""The run directory: plain files that anyone can read without poolproof; docs/run-directory.md has the format."""
