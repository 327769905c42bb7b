"""Errors that the user can fix; they are printed without a stack trace."""


class Problem(Exception):
    """Something that the run cannot do."""


class LeftOut(Exception):
    """A peer takes no part, for this reason. The run continues without it, says so, and ends with another exit code."""
