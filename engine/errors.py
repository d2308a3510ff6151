"""The two ways in which an analysis ends early: a fault the user can mend, and the user's own wish."""


class PlumblineError(Exception):
    """A fault that is explained to the user in one line."""


class InputError(PlumblineError):
    """Bad input or bad options. The message names the file and line (or the option) and the remedy."""


class Cancelled(Exception):
    """The user cancelled. Raised from inside a progress callback and caught by the job or the command line."""
