"""Run Hypothesis without a deadline, so that no example fails because the machine is busy."""

from hypothesis import settings

settings.register_profile("no-deadline", deadline=None)
settings.load_profile("no-deadline")
