"""Prepare documents for the search for commands: HTML, Markdown, YAML and playbooks."""
