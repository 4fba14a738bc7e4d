"""Words of the campaign file that are kept for later versions, and words that stand in another place."""

LATER = ("calibrate",)
OF_MEASURE = ("until", "confidence", "steady", "trials")
