"""Read-only probes of a host."""
