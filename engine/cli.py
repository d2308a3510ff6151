"""The command line: `python -m engine COMMAND CORPUS… [options] --out FILE`."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from engine.commands import COMMANDS
from engine.commands.context import Context, add_corpus_flags, add_run_flags
from engine.errors import Cancelled, PlumblineError

DONE, BAD_INPUT, CANCELLED = 0, 2, 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command.

    Returns
    -------
    The exit status: 0 done; 2 bad input or options (one line on standard error says which and the remedy); 130 cancelled.
    """
    parsed = make_parser().parse_args(arguments)
    signal.signal(signal.SIGTERM, _cancel)
    bar = ProgressBar()
    try:
        _set_threads(getattr(parsed, "threads", None))
        _check_out(parsed.out)
        context = Context(parsed, bar)
        frame, status = COMMANDS[parsed.command].run(context)
        frame = context.with_ids(frame)
        bar.clear()
        _write(frame, parsed.out)
        for line in context.last_lines:
            print(line)
        return status
    except PlumblineError as error:
        bar.clear()
        print(f"plumbline: {' '.join(str(error).split())}", file=sys.stderr)
        return BAD_INPUT
    except (Cancelled, KeyboardInterrupt):
        bar.clear()
        print("plumbline: cancelled", file=sys.stderr)
        return CANCELLED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE


def make_parser() -> argparse.ArgumentParser:
    """The parser with every command's flags."""
    parser = argparse.ArgumentParser(prog="python -m engine", description="Plumbline: diagnose text-generation metrics.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, module in COMMANDS.items():
        command = commands.add_parser(name, help=module.HELP, description=module.HELP)
        add_corpus_flags(command)
        if module.NEEDS_SCORING:
            add_run_flags(command)
        module.add_flags(command)
        command.add_argument("--out", metavar="FILE", help="write .csv, .json, .jsonl or .parquet instead of a table")
    return parser


class ProgressBar:
    """Progress on standard error: a line that renews itself on a terminal, a line every ten seconds elsewhere."""

    def __init__(self) -> None:
        self.started = time.monotonic()
        self.terminal = sys.stderr.isatty()
        self.next = self.started + (0.5 if self.terminal else 10.0)
        self.shown = False

    def __call__(self, done: float, total: float) -> None:
        now = time.monotonic()
        if now < self.next or not total:
            return
        self.next = now + (0.2 if self.terminal else 10.0)
        share = min(done / total, 1.0)
        remaining = (now - self.started) * (1 - share) / share if share else float("nan")
        text = f"{share:4.0%}, {_duration(remaining)} left" if share else "  0%"
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
    if not folder.is_dir():
        raise PlumblineError(f"{out}: the folder {folder} does not exist; make it first")


def _write(frame: pd.DataFrame, out: str | None) -> None:
    from engine.report.frames import render_table, write_frame

    if out is None:
        print(render_table(frame))
    else:
        write_frame(frame, Path(out))


def _set_threads(threads: int | None) -> None:
    if threads is None:
        return
    if threads < 1:
        raise PlumblineError(f"option --threads is {threads}; the smallest value is 1")
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
        os.environ[name] = str(threads)  # read when torch and numba are loaded


def _cancel(*_: object) -> None:
    raise KeyboardInterrupt
