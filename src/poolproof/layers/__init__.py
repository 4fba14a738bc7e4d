"""The storage technologies, one module for each, with their syntax and the steps that build, open and close them."""
