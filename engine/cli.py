"""The command line: `python -m engine COMMAND CORPUS… [options] --out FILE`."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

import pandas as pd

from engine.commands import COMMANDS
from engine.commands.context import Context, add_corpus_flags, add_run_flags, check_flags
from engine.commands.result import Result
from engine.errors import Cancelled, PlumblineError
from engine.report.tables import printable

DONE, BAD_INPUT, CANCELLED = 0, 2, 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command.

    Returns
    -------
    The exit status: 0 done; 2 bad input or options (one line on standard error says which and the remedy); 130 cancelled.
    """
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 (None where the shell closed it)
    parsed = make_parser().parse_args(arguments)
    bar = ProgressBar()
    with Interrupts() as interrupts:
        try:
            return _run(parsed, bar, interrupts)
        except PlumblineError as error:
            return _end(bar, BAD_INPUT, str(error))
        except MemoryError:
            return _end(bar, BAD_INPUT, "there is not enough memory; take fewer segments (--limit N) or smaller numbers")
        except (Cancelled, KeyboardInterrupt):
            return _end(bar, CANCELLED, "cancelled")
        except Exception:
            if not interrupts.seen:  # compiled code turns a KeyboardInterrupt into an exception of its own
                raise
            return _end(bar, CANCELLED, "cancelled")


def _run(parsed: argparse.Namespace, bar: ProgressBar, interrupts: Interrupts) -> int:
    def progress(done: float, total: float) -> None:
        if interrupts.seen:  # and was lost on the way
            raise Cancelled
        bar(done, total)

    check_flags(parsed)
    _set_threads(getattr(parsed, "threads", None))
    _check_out(parsed.out)
    context = Context(parsed, progress)
    result = COMMANDS[parsed.command].run(context)
    bar.clear()
    _write(context, result)
    return result.status


def _end(bar: ProgressBar, status: int, message: str) -> int:
    bar.clear()
    print(f"plumbline: {printable(' '.join(message.split()))}", file=sys.stderr)
    return status


def make_parser() -> argparse.ArgumentParser:
    """The parser with every command's flags."""
    parser = Parser(prog="python -m engine", description="Plumbline: diagnose text-generation metrics.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, module in COMMANDS.items():
        command = commands.add_parser(name, help=module.HELP, description=module.HELP)
        add_corpus_flags(command)
        if module.NEEDS_SCORING:
            add_run_flags(command)
        module.add_flags(command)
        command.add_argument("--out", metavar="FILE", help="write .csv, .json, .jsonl or .parquet instead of a table")
    return parser


class Parser(argparse.ArgumentParser):
    """Says in one line what is wrong with the flags."""

    def error(self, message: str) -> NoReturn:
        self.exit(BAD_INPUT, f"plumbline: {printable(' '.join(message.split()))}; {self.prog} --help lists the options\n")


class Interrupts:
    """Turns SIGINT and SIGTERM into a KeyboardInterrupt and remembers it; a second one ends the program at once."""

    def __init__(self) -> None:
        self.seen = False

    def __enter__(self) -> Interrupts:
        self._former = {number: signal.signal(number, self._raise) for number in (signal.SIGINT, signal.SIGTERM)}
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._former.items():
            signal.signal(number, handler)

    def _raise(self, number: int, _: object) -> None:
        self.seen = True
        signal.signal(number, signal.SIG_DFL)
        raise KeyboardInterrupt


class ProgressBar:
    """Progress on standard error: a line that renews itself on a terminal, a line every ten seconds elsewhere."""

    def __init__(self) -> None:
        self.terminal = sys.stderr.isatty()
        self.next = time.monotonic() + (0.5 if self.terminal else 10.0)
        self.first: tuple[float, float] | None = None
        self.shown = False

    def __call__(self, done: float, total: float) -> None:
        now = time.monotonic()
        if not total:
            return
        share = min(done / total, 1.0)
        self.first = self.first or (now, share)
        if now < self.next:
            return
        self.next = now + (0.2 if self.terminal else 10.0)
        spent, gained = now - self.first[0], share - self.first[1]  # without what came before: reading, loading a model
        text = f"{share:4.0%}, {_duration(spent * (1 - share) / gained)} left" if gained > 0.002 else f"{share:4.0%}"
        print(f"\r\033[K{text}" if self.terminal else text, end="" if self.terminal else "\n", file=sys.stderr, flush=True)
        self.shown = True

    def clear(self) -> None:
        """Remove the line from a terminal."""
        if self.terminal and self.shown:
            print("\r\033[K", end="", file=sys.stderr, flush=True)


def _duration(seconds: float) -> str:
    minutes, seconds = divmod(int(seconds + 0.5), 60)
    return f"{minutes} min {seconds:02d} s" if minutes else f"{seconds} s"


def _check_out(out: str | None) -> None:
    from engine.report.frames import check_suffix

    if out is None:
        return
    check_suffix(Path(out))
    folder = Path(out).absolute().parent
    if not os.path.isdir(folder):
        raise PlumblineError(f"{out}: the folder {folder} does not exist; make it first")


def _write(context: Context, result: Result) -> None:
    from engine.report.frames import render_table, write_frame

    lines, out = list(result.last_lines), context.arguments.out
    if out is not None:
        write_frame(map(context.with_ids, result.parts()), Path(out))
    elif result.shown is not None:
        lines.insert(0, result.shown())
    else:
        lines.insert(0, render_table(context.with_ids(pd.concat(result.parts(), ignore_index=True))))
    try:
        for text in lines:
            print(text)
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:  # whoever reads has read enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as fault:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise PlumblineError(f"standard output cannot be written ({fault.strerror}); name a file with --out") from None


def _set_threads(threads: int | None) -> None:
    if threads is None:
        return
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
        os.environ[name] = str(threads)  # read when torch and numba are loaded
