"""Properties have no deadline, for a busy machine is no fault of theirs; where CI runs, their examples are fixed."""

import os

from hypothesis import settings

settings.register_profile("poolproof", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("poolproof")
