"""Parse campaigns, from YAML files and layout expressions, into frozen dataclasses.

The package is independent of the code that builds and measures layouts.
"""
