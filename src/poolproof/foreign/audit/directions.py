"""Recognize the words for reads, writes, random and sequential I/O, in the languages in which people post results."""

import re

_READS = re.compile(
    r"(?<!th)(?<!sp)(?<!al)read(?!y|[ -]?ahead|me)|[读讀読읽]|リード|чтени|\blese|lectura|leitura|\blecture|"
    r"\blettur|odczyt|\b(?:seq|rnd|rand)rd\b",
    re.IGNORECASE,
)
_WRITES = re.compile(
    r"write(?![ -]?(?:back|through|cache))|[写寫쓰]|書き|ライト|запис|schreib(?!ung)|\bescri[tb]|"
    r"\b\u00e9cri|\bscrittur|\bzapis|\b(?:seq|rnd|rand)(?:re)?wr\b",
    re.IGNORECASE,
)
_RANDOM = re.compile(
    r"\bra?nd|random|随机|隨機|ランダム|무작위|랜덤|임의|случайн|zuf\u00e4llig|aleat|al\u00e9at|\bcasual|losow",
    re.IGNORECASE,
)
_SEQUENTIAL = re.compile(
    r"\bseq|sequen|s\u00e9quen|secuen|顺序|順序|循序|连续|連續|シーケンシャル|순차|시퀀셜|последоват|sekwenc",
    re.IGNORECASE,
)


def named_direction(name: str) -> str:
    """Return the direction that a name mentions (`read` or `write`), or an empty string for neither or both."""
    reads, writes = _READS.search(name) is not None, _WRITES.search(name) is not None
    return "" if reads == writes else "read" if reads else "write"


def named_order(name: str) -> str:
    """Return the order that a name mentions (`random` or `sequential`), or an empty string for neither or both."""
    is_random, is_sequential = _RANDOM.search(name) is not None, _SEQUENTIAL.search(name) is not None
    return "" if is_random == is_sequential else "random" if is_random else "sequential"
