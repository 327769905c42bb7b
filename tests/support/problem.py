"""An error that is shown to users without a stack trace."""


class Problem(Exception):
    pass
