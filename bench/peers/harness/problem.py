"""Errors that a person can mend, without a stack trace."""


class Problem(Exception):
    """What the run cannot do."""


class LeftOut(Exception):
    """Why a peer takes no part. The run goes on without it, says so, and ends with another exit code."""
