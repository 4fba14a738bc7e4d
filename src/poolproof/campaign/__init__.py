"""Parse campaigns, from YAML files and layout expressions, into frozen dataclasses.

The package does not depend on the code that builds and measures layouts.
"""
