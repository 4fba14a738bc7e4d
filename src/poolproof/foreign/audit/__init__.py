"""Find benchmark results in any text, and judge them by the same rules as poolproof's own trials."""
