"""A run as one self-contained HTML page: what it shows, its template, its own script and style."""
