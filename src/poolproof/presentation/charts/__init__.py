"""Vega-Altair charts for the report, pictures and notebooks, one module per chart."""
