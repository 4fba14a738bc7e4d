"""One file for each chart: Vega-Altair charts for the page, PNG, SVG and notebooks."""
