"""Everything that shows a run to people: terminal, charts, HTML report, history page, live view and exports."""
