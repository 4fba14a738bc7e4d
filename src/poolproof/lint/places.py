"""What the jobs stand on: as the flags say, and else as this machine tells of their paths."""

from poolproof.audit.context import Context, target_of
from poolproof.lint.grounds import Place, Standing


class Places:
    """Answers for each place, and remembers."""

    def __init__(self, context: Context) -> None:
        self._context = context

    def standing(self, place: Place) -> Standing:
        """The target, and what is known of the files that are there already."""
        return target_of(self._context, None), None
