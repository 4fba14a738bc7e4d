"""Read-only queries about a host: its block devices, kernel, programs and settings."""
