"""Parse campaigns, from YAML files and layout expressions, into frozen dataclasses.

This package imports nothing that builds or measures layouts.
"""
