"""The run directory, which consists of text files that can be read without poolproof. See docs/run-directory.md."""
