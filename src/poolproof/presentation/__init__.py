"""Show runs to people: terminal output, charts, an HTML report, a history page, a live view and exports."""
