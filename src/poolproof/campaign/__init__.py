"""Campaigns: YAML files and layout expressions, parsed into frozen values. Imports no package above this one."""
