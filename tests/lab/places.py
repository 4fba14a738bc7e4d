"""Paths of the campaigns that the lab tests run."""

from pathlib import Path

EXPERIMENTS = Path(__file__).parents[2] / "experiments"
CAMPAIGNS = Path(__file__).with_name("campaigns")
