"""Campaigns: YAML files and layout expressions, parsed into frozen values.

Imports nothing that builds or measures the layouts.
"""
