"""Linting, auditing and importing other people's fio jobs and results."""
