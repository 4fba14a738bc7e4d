"""Text for terminals: tables, progress and the live screen."""
