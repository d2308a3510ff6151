"""The frame of a stand-alone HTML page: no scripts, no files beside it, light and dark, every text escaped."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

_STYLE = """
:root { color-scheme: light dark; --page: #ffffff; --ink: #1c1e21; --soft: #5a6068; --line: #d9dbde; --card: #fafafa; }
@media (prefers-color-scheme: dark) {
  :root { --page: #14161a; --ink: #e8e9eb; --soft: #a6acb4; --line: #3a3e45; --card: #1b1e23; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 72rem; padding: 1.5rem; background: var(--page); color: var(--ink);
  font: 1rem/1.5 system-ui, "Segoe UI", Roboto, "Noto Sans", sans-serif; }
h1 { font-size: 1.5rem; margin: 0 0 .5rem; } h2 { font-size: 1.1rem; margin: 0 0 .5rem; }
.facts { color: var(--soft); margin: 0 0 1.5rem; } .facts li { overflow-wrap: anywhere; }
code { font: .875em/1.4 ui-monospace, "Cascadia Mono", Menlo, Consolas, monospace; overflow-wrap: anywhere; }
section { border: 1px solid var(--line); border-radius: .5rem; background: var(--card); padding: 1rem; margin: 0 0 1rem;
  content-visibility: auto; contain-intrinsic-size: auto 14rem; }
.soft { color: var(--soft); font-size: .875rem; }
"""


def page(title: str, language: str, facts: Sequence[tuple[str, str]], body: Iterable[str], style: str = "") -> str:
    """A whole page.

    Parameters
    ----------
    title : plain text.
    language : of the words around the data, as a BCP 47 code.
    facts : (name, value) pairs under the title, plain text.
    body : pieces of HTML.
    style : CSS of the body.
    """
    listed = "".join(f"<li>{escape(name)}: <code>{escape(value)}</code></li>" for name, value in facts)
    return "".join(
        [
            f'<!doctype html>\n<html lang="{escape(language)}">\n<head>\n<meta charset="utf-8">\n',
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n',
            f"<title>{escape(title)}</title>\n<style>{_STYLE}{style}</style>\n</head>\n<body>\n<main>\n",
            f'<h1>{escape(title)}</h1>\n<ul class="facts">{listed}</ul>\n',
            *body,
            "</main>\n</body>\n</html>\n",
        ]
    )


def escape(text: str) -> str:
    """Text as HTML shows it: markup is escaped; control characters and half surrogate pairs, which it cannot hold, are shown."""
    if not text.isprintable():
        text = "".join(letter if _allowed(letter) else letter.encode("unicode_escape").decode("ascii") for letter in text)
    return html.escape(text, quote=True)


def _allowed(letter: str) -> bool:
    code = ord(letter)
    if code < 0x20:
        return letter in "\t\n"
    return not (0x7F <= code < 0xA0 or 0xD800 <= code <= 0xDFFF or code & 0xFFFE == 0xFFFE or 0xFDD0 <= code <= 0xFDEF)
