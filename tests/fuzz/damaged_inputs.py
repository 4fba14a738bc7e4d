"""100,000 damaged inputs of every kind that poolproof reads: none may cause a traceback or a hang.

    python -m tests.fuzz.damaged_inputs [COUNT] [SEED]

This passes COUNT inputs (default: 100,000) to the functions that read them, and prints the number of each kind, and how
many were rejected with an error message. At the first failure, it saves the input in the current folder and exits with
1. The same seed always yields the same inputs.
"""

import random
import re
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.fuzz.cpu_limit import cpu_limit
from tests.fuzz.mutated_texts import mutated, seeds

from poolproof.api import lint
from poolproof.campaign.claims import parse_claim
from poolproof.campaign.device_source import parse_device_flag
from poolproof.campaign.document import Spot
from poolproof.campaign.expression import parse_expression
from poolproof.campaign.flags import parse_layout_flag, parse_workload_flag
from poolproof.campaign.yaml import parse_campaign
from poolproof.errors import PoolproofError
from poolproof.foreign.audit.context import Context
from poolproof.foreign.audit.model import audited_object
from poolproof.foreign.audit.texts import audit_text
from poolproof.layers.resolve import resolve
from poolproof.load.fio.json_output import read_json_stream
from poolproof.load.fio.text import read_text
from poolproof.measure.plan import check_without_host
from poolproof.provision.journal import Journal
from poolproof.results.runs.loading import load_run, read_lines

_ROOT = Path(__file__).parents[2]
_CASES = _ROOT / "tests" / "unit" / "foreign" / "audit" / "cases"
_OLD_RUN = _ROOT / "tests" / "unit" / "results" / "runs" / "old_run"
COUNT = 100_000
_LONGEST_TEXT = 6000
_WORD = re.compile(r"[\w.]+|[^\w\s]")
_DEVICES = {"a", "b", "c", "d", "s", "f"}
_EXPRESSIONS = (
    "a | ext4 noatime", "btrfs raid1 a b compress=zstd:3", 'dir "/srv/my data"', "zfs mirror a b log s recordsize=16k",
    "zfs raidz2 a b c d ashift=12 | zvol 4G volblocksize=16k | xfs",
    "mergerfs (a | ext4) (b | xfs) category.create=mfs",
    "md raid10 a b c d layout=f2 | luks sector-size=4096 | ext4", "lvm raid1 a b | xfs", "zfs draid1:2d:4c a b c d",
    "lvm writecache (md raid1 a b) cachevol f | ext4", "autotier (a | ext4) quota=20% (b | ext4)",
)  # fmt: skip
_CLAIMS = (
    "iops(one, reads) / iops(two, reads) > 1.2", "verdict(one, reads) is refuted", "read_ratio(one, reads) < 1%",
    'sync_p99(one, etcd) / sync_p99(two, "grid[rw=write,bs=4k]") = 1 ± 50%', "p99(one, reads) < 20ms",
    "read_share(files, reads, ssd) = 50% ± 10%", "iops(files, reads) / iops(hdd-file, reads) <= 2 ± 15%",
)  # fmt: skip
_LAYOUT_FLAGS = ("one=a | ext4", "two=btrfs raid{0,1} a b", "zfs mirror a b", "x=a | xfs su={64k,128k}")
_WORKLOAD_FLAGS = ("etcd", "rw=randread,bs={4k,16k}", "etcd,size=1g", "reads:rw=randread,bs=4k", "rw=write,metric=p99")
_DEVICE_FLAGS = ("a=file:1G", "b=emulate:nvme,2G", "d=disk:ata-X", "q=qcow2:256M", "h=emulate:hdd-7200,8G")
_JOBS = (
    "[global]\nrw=randread\nbs=4k\ndirect=1\nioengine=libaio\niodepth=16\nsize=1g\n[a]\nnumjobs=4\n[b]\nstonewall\n",
    "fio --name=a --rw=randwrite --bs=4k --size=1g --numjobs=8 --runtime=60 --time_based --end_fsync=1 --direct=1\n",
    "for bs in 4k 64k 1m; do\n  fio --name=x --bs=$bs --rw=read --filename=/dev/sdb --output=$bs.txt\ndone\n",
    "[a]\nbssplit=4k/50:64k/50\nrw=randrw:8\nrwmixread=70\nrandom_distribution=zipf:1.2\nfilename=/a:/b\nfsync=32\n",
)

Reader = Callable[[str], object]


KINDS = (
    "layout expression", "claim", "layout flag", "workload flag", "device flag", "campaign", "job or script",
    "fio JSON", "fio text", "post", "journal", "trials", "run.json",
)  # fmt: skip


@dataclass(frozen=True)
class Kind:
    """A kind of input: the texts to damage, the function that reads it, and its share of the inputs."""

    texts: Sequence[str]
    read: Reader
    share: float


def kinds(folder: Path) -> Mapping[str, Kind]:
    """Return all kinds of inputs. The shares add up to 1. Inputs that must be files are written to `folder`."""
    outputs = seeds()
    campaigns = [path.read_text() for path in sorted((_ROOT / "docs").glob("**/*.yaml"))]
    campaigns += [path.read_text() for path in sorted((_ROOT / "experiments").glob("*.yaml"))]
    journal = (_OLD_RUN / "journal.jsonl").read_text()
    trials = (_OLD_RUN / "trials.jsonl").read_text().splitlines()
    return {
        "layout expression": Kind(_EXPRESSIONS, _read_expression, 0.3),
        "claim": Kind(_CLAIMS, lambda text: parse_claim(text, Spot("c.yaml", 1)), 0.15),
        "layout flag": Kind(_LAYOUT_FLAGS, parse_layout_flag, 0.05),
        "workload flag": Kind(_WORKLOAD_FLAGS, parse_workload_flag, 0.05),
        "device flag": Kind(_DEVICE_FLAGS, parse_device_flag, 0.05),
        "campaign": Kind(campaigns, _read_campaign, 0.02),
        "job or script": Kind(_JOBS, lint, 0.05),
        "fio JSON": Kind([path.read_text() for path in sorted(_CASES.glob("*.json"))], read_json_stream, 0.08),
        "fio text": Kind([path.read_text() for path in sorted(_CASES.glob("*.txt"))], read_text, 0.08),
        "post": Kind(outputs, _audit, 0.01),
        "journal": Kind([journal, *journal.splitlines(keepends=True)], _journal_reader(folder), 0.08),
        "trials": Kind(trials, lambda text: read_lines(text.encode(errors="replace").splitlines()), 0.07),
        "run.json": Kind([(_OLD_RUN / "run.json").read_text()], _run_reader(folder), 0.01),
    }


def _read_expression(text: str) -> object:
    return resolve(parse_expression(text), _DEVICES)


def _read_campaign(text: str) -> None:
    check_without_host(parse_campaign(text, "c.yaml"))


def _audit(text: str) -> object:
    return [audited_object(audited) for audited in audit_text("post", text, Context())]


def _journal_reader(folder: Path) -> Reader:
    path = folder / "journal.jsonl"

    def read(text: str) -> object:
        path.write_text(text, errors="replace")
        return Journal(path).outstanding()

    return read


def _run_reader(folder: Path) -> Reader:
    run = folder / "run"
    run.mkdir()
    (run / "trials.jsonl").write_text((_OLD_RUN / "trials.jsonl").read_text())

    def read(text: str) -> object:
        (run / "run.json").write_text(text, errors="replace")
        return load_run(run)

    return read


def read_all(kind: Kind, count: int, seed: int) -> int:
    """Pass `count` damaged texts to the kind's function, and return how many it rejected with a PoolproofError.

    Raises:
        RuntimeError: a text caused another exception, an error without a message, or took more than 5 s of processor
            time. The text is saved in the current folder.
    """
    rejected = 0
    with cpu_limit() as restart:
        for text in _damaged(kind.texts, count, seed):
            restart()
            try:
                kind.read(text)
            except PoolproofError as error:
                if not error.message:
                    raise _failure(text) from error
                rejected += 1
            except Exception as error:
                raise _failure(text) from error
    return rejected


def _damaged(texts: Sequence[str], count: int, seed: int) -> Iterator[str]:
    """Yield damaged texts. In half of them, only words are exchanged, so that many are still valid."""
    chance = random.Random(seed)
    words = [word for text in texts for word in _WORD.findall(text[:_LONGEST_TEXT])]
    for text in mutated(list(texts), count, seed):
        yield _with_other_words(chance.choice(texts), words, chance) if chance.random() < 0.5 else text


def _with_other_words(text: str, words: Sequence[str], chance: random.Random) -> str:
    own = list(_WORD.finditer(text))
    for match in sorted(chance.sample(own, min(len(own), chance.randint(0, 3))), key=re.Match.start, reverse=True):
        text = text[: match.start()] + chance.choice(words) + text[match.end() :]
    return text


def _failure(text: str) -> RuntimeError:
    path = Path(f"crash-{abs(hash(text)) % 10**10}.txt")
    path.write_text(text, encoding="utf-8", errors="replace")
    return RuntimeError(f"saved as {path}:\n{traceback.format_exc()}")


def _main() -> int:
    count, seed = (int(value) for value in (*sys.argv[1:3], *(str(COUNT), "1")[len(sys.argv) - 1 :]))
    total, begun = 0, time.monotonic()
    with tempfile.TemporaryDirectory(prefix="poolproof-fuzz-") as folder:
        for name, kind in kinds(Path(folder)).items():
            own, start = round(count * kind.share), time.monotonic()
            try:
                rejected = read_all(kind, own, seed)
            except RuntimeError as error:
                print(f"{name}: {error}")
                return 1
            total += own
            print(f"{name:<18}{own:>7}, of which {rejected} rejected, in {time.monotonic() - start:.0f} s", flush=True)
    print(f"{total} damaged inputs (seed {seed}) in {time.monotonic() - begun:.0f} s: no traceback, no hang")
    return 0


if __name__ == "__main__":
    raise SystemExit(_main())
