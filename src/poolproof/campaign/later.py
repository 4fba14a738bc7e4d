"""Words of the campaign file that are kept for later versions."""

LATER = ("expect", "until", "budget", "steady", "calibrate")
