"""Present runs to people: terminal output, charts, HTML report, history page, live view and exports."""
