"""Load generators: what is asked of the storage, and what they report."""
