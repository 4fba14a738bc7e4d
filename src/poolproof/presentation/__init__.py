"""What people see of a run: terminal, charts, HTML report, history, live view, export."""
