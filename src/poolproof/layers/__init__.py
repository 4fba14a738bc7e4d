"""The storage technologies: one module for each, with its syntax and the steps that build, open and close it."""
