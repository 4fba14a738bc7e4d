"""The page of a run: one self-contained HTML file, with its data, template, scripts and style."""
