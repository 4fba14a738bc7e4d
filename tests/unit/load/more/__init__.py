"""Load generators for tests. The tests add this folder to the search path of `poolproof.load`."""
