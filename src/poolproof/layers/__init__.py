"""One file per storage technology: how it is written, built, opened, closed and counted."""
