"""`python -m engine COMMAND …`: the analyses without a browser."""

import os
import signal
import sys

CANCELLED = 130

if __name__ == "__main__":
    try:
        from engine.cli import main

        status = main()
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # all is done; there is nothing left to cancel
    except KeyboardInterrupt:  # while the program was being loaded
        print("plumbline: cancelled", file=sys.stderr)
        status = CANCELLED
    if status == CANCELLED:
        sys.stderr.flush()
        os._exit(status)  # at once, and with this status: after some interrupts the interpreter would end by the signal instead
    sys.exit(status)
