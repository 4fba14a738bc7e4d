"""The campaigns that the lab tests run, and the OpenZFS series for tests that use only one."""

import os
from pathlib import Path

EXPERIMENTS = Path(__file__).parents[2] / "experiments"
CAMPAIGNS = Path(__file__).with_name("campaigns")
ZFS = os.environ.get("POOLPROOF_LAB_ZFS", "2.1")
