"""Terminal output: tables, progress and the live screen."""
