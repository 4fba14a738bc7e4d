"""Vega-Altair charts for the report, exported pictures and notebooks, with one module per chart."""
