"""One file per command. A new command is one file with `NAME`, `HELP`, `add_flags` and `run`, and one line here."""

from engine.commands import boost, check, explain, muler, score

COMMANDS = {module.NAME: module for module in (check, score, explain, boost, muler)}
