"""The storage technologies: one module per technology, with its syntax and the steps to build, open and close it."""
