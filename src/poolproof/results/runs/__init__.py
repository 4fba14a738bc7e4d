"""The run directory: text files that can be read without poolproof. docs/run-directory.md describes the format."""
