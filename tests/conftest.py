"""Run Hypothesis without a deadline, because the machine may be busy. In CI, its examples are fixed."""

import os

from hypothesis import settings

settings.register_profile("poolproof", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("poolproof")
