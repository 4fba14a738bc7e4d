"""One chart, one file: Vega-Altair specifications as functions of plain rows, for the page, PNG, SVG and notebooks."""
