"""Text for terminals: tables, progress, the live screen."""
