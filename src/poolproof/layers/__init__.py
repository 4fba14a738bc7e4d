"""The storage technologies. Each module defines one: its syntax, and the steps to build, open and close it."""
