"""The storage technologies. Each `LAYER` is one: its syntax, and the steps to build, open and close it."""
