"""Words of the campaign file that are kept for later versions."""

LATER = ("until", "budget", "steady", "calibrate")
