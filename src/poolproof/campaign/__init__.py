"""Campaigns: YAML files and layout expressions, parsed into frozen values.

This package imports nothing that builds or measures the layouts.
"""
