"""Linting other people's fio jobs, and auditing and importing their benchmark results."""
