"""What is told to people without a trace of the program."""


class Problem(Exception):
    pass
