"""What is known of fio's I/O engines. Source: the `flags` of each file in fio's engines/ (FIO_SYNCIO)."""

DEFAULT_ENGINE = "psync"

SYNCHRONOUS: frozenset[str] = frozenset(
    {
        "sync", "psync", "vsync", "pvsync", "pvsync2", "mmap", "splice", "ftruncate", "falloc", "e4defrag",
        "filecreate", "fileoperations", "filestat", "filedelete", "dircreate", "dirstat", "dirdelete", "net",
        "netsplice", "mtd", "pmemblk", "dev-dax", "libpmem", "libzbc", "libhdfs", "libcufile", "libhipfile",
        "gfapi", "ime_psync", "ime_psyncv", "http", "cpuio", "exec",
    }
)  # fmt: skip
"""Engines that return from submission only when the I/O is done: their queue is never deeper than 1."""

PAGE_CACHE: frozenset[str] = frozenset(
    {"sync", "psync", "vsync", "pvsync", "pvsync2", "mmap", "splice", "libaio", "io_uring", "posixaio"}
)
"""Engines that read and write files and block devices by the kernel's ordinary ways, where a page cache may answer."""


def engine_name(value: str) -> str:
    """The engine that `ioengine=` names; `external:/some/path.so` is the engine `external`."""
    word = value.strip()
    return {"linuxaio": "libaio", "aio": "libaio"}.get(word, word.partition(":")[0])
