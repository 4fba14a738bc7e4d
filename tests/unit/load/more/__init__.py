"""Load generators for tests. The tests add this folder to the path of `poolproof.load`."""
