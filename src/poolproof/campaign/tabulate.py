"""Write grammar_tables.py: what lark makes of grammar.lark, so that no command has to make it anew; for `make docs`."""

import hashlib
import io
import pickle
import textwrap
from pathlib import Path

import lark

from poolproof.campaign.grammar import GRAMMAR_FILE, parser_of_grammar
from poolproof.campaign.grammar_tables import GRAMMAR, LARK

_TABLES_FILE = Path(__file__).with_name("grammar_tables.py")
_WIDTH = 118
_TEXT = '''"""The LALR tables of grammar.lark, as lark of that version made them. Written by `make docs`."""

from typing import Any

# fmt: off
LARK = "{lark}"
GRAMMAR = "{grammar}"

TABLES: dict[str, Any] = \\
{tables}
'''


def is_up_to_date() -> bool:
    """Whether the tables were made of the grammar as it stands, by the lark that is installed."""
    return (lark.__version__, _digest()) == (LARK, GRAMMAR)


def _digest() -> str:
    return hashlib.sha256(GRAMMAR_FILE.read_bytes()).hexdigest()


def _tables_text() -> str:
    """The module. Its numbers differ each time, as lark counts what it holds in sets."""
    saved = io.BytesIO()
    parser_of_grammar().save(saved)
    plain = repr(pickle.loads(saved.getvalue()))
    tables = "\n".join(textwrap.wrap(plain, _WIDTH, break_long_words=False, break_on_hyphens=False))
    return _TEXT.format(lark=lark.__version__, grammar=_digest(), tables=tables)


if __name__ == "__main__" and not is_up_to_date():
    _TABLES_FILE.write_text(_tables_text(), encoding="utf-8")
