"""Where the campaigns lie that the tests run in a lab."""

from pathlib import Path

EXPERIMENTS = Path(__file__).parents[2] / "experiments"
CAMPAIGNS = Path(__file__).with_name("campaigns")
