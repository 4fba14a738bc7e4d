"""Ansible playbooks with variables, and manifests of containers with volumes in RAM."""

import pytest

from tests.unit.foreign.lint.making import KnownTarget, flags, rules, said

_TASK = (
    "  tasks:\n  - command: >\n      fio --name=a --filename=/d/f --rw=read --direct=1 --size={{ size }} --runtime=60\n"
)
_EARLY = "runtime-without-time-based"


@pytest.mark.parametrize(
    ("variables", "is_early"),
    [
        ("  vars:\n    size: 1G\n", True),
        ("  vars:\n    size: '1G'  # small\n    other: 2\n", True),
        ("  vars:\n    size: 1000G\n", False),
        ("  vars:\n    size: '{{ disk_size }}'\n", False),
        ("  vars:\n    size: [1G]\n", False),
        ("  vars:\n    size: 1G\n  post:\n    vars:\n      size: 2G\n", False),
        ("  vars:\n    disk:\n      size: 1G\n", False),
        ("  vars:\n    # how much\n    size: 1G\n    disk:\n      size: 2G\n", True),
        ("", False),
    ],
)
def test_variables_of_a_playbook(variables: str, is_early: bool) -> None:
    found = rules(f"- hosts: all\n{variables}{_TASK}", name="bench.yml")
    assert (_EARLY in found) == is_early
    assert ("unknown-variable" in found) == (not is_early and "1000G" not in variables)


@pytest.mark.parametrize(
    ("word", "is_early"),
    [
        ("{{ size | default('1G') }}", True),
        ("{{size|default('1G', true)}}", True),
        ("{{ gib | default(1) }}G", True),
        ("{{ size | human_readable }}", False),
        ("{{ item.size }}", False),
    ],
)
def test_defaults_and_filters(word: str, is_early: bool) -> None:
    assert (_EARLY in rules(f"- hosts: all\n{_TASK.replace('{{ size }}', word)}", name="bench.yml")) == is_early
    unset = "- hosts: all\n  vars:\n    size: '{{ x }}'\n    gib: '{{ y }}'\n"
    assert _EARLY not in rules(f"{unset}{_TASK.replace('{{ size }}', word)}", name="bench.yml")


def test_variables_in_lists_and_job_files_of_a_playbook() -> None:
    variables = "- hosts: all\n  vars:\n    size: 1G\n    opts: --direct=1 --runtime=60\n  tasks:\n"
    items = "".join(
        f"        - {each}\n" for each in ("fio", "--name=a", "--rw=read", "--size={{ size }}", "--runtime=60")
    )
    assert _EARLY in rules(f"{variables}  - command:\n      argv:\n{items}", name="bench.yml")
    job = "  - copy:\n      content: |\n        [a]\n        rw=read\n        size={{ size }}\n        runtime=60\n"
    assert _EARLY in rules(f"{variables}{job}", name="bench.yml")
    words = "  - shell: fio --name=a --rw=read --size={{ size }} {{ opts }}\n"
    assert rules(f"{variables}{words}", name="bench.yml") == {_EARLY}


_POD = """\
spec:
  volumes:
  - name: scratch
    emptyDir:
      {medium}sizeLimit: 4Gi
  - name: data
    emptyDir: {{}}
  containers:
  - args: ["--name=a", "--directory={path}", "--rw=read", "--size=1G", "--direct=1", "--ioengine=libaio"]
    volumeMounts:
    - name: scratch
      mountPath: /scratch
    - mountPath: /data
      name: data
"""


@pytest.mark.parametrize(
    ("medium", "path", "is_in_ram"),
    [
        ("medium: Memory\n      ", "/scratch", True),
        ("medium: Memory\n      ", "/scratch/below", True),
        ("medium: Memory\n      ", "/data", False),
        ("", "/scratch", False),
    ],
)
def test_a_volume_in_memory(medium: str, path: str, is_in_ram: bool) -> None:
    assert ("volatile-target" in rules(_POD.format(medium=medium, path=path), name="pod.yaml")) == is_in_ram


@pytest.mark.parametrize(
    ("text", "is_in_ram"),
    [
        ("services:\n  b:\n    tmpfs:\n      - /data:size=4g\n      - /x\n    command: {}\n", True),
        ("services:\n  b:\n    tmpfs: /data\n    command: {}\n", True),
        ("services:\n  b:\n    tmpfs: /other\n    command: {}\n", False),
        ("docker run --tmpfs /data:size=1g image {}\n", True),
        ("docker run --mount type=tmpfs,destination=/data image {}\n", True),
        ("docker run --mount type=bind,source=/mnt,destination=/data image {}\n", False),
    ],
)
def test_a_directory_in_ram_of_a_container(text: str, is_in_ram: bool) -> None:
    call = "fio --name=a --directory=/data --rw=read --size=1g --direct=1 --ioengine=libaio"
    assert ("volatile-target" in rules(text.format(call), name="compose.txt")) == is_in_ram


@pytest.mark.parametrize("path", ["$FILE", "D\\:\\t.dat", "/mnt/f"])
def test_the_options_describe_the_target_of_an_unknown_path(path: str) -> None:
    text = f"fio --name=a --filename={path} --rw=randread --bs=4k --size=2g\n"
    assert "size-below-cache" in rules(text, flags(fs="ext4", ram="64G"), name="b.sh")
    assert "size-below-cache" not in rules(text, flags(fs="ext4", ram="1G"), name="b.sh")
    assert "size-below-cache" not in rules(text, KnownTarget(), name="b.sh")
    assert "size-below-cache" not in rules(f"{text[:-1]} --ioengine=null\n", flags(fs="ext4", ram="64G"), name="b.sh")


def test_the_line_of_a_job_in_a_playbook() -> None:
    text = "- hosts: all\n  vars:\n    rw: write\n  tasks:\n  - shell: fio --name=a --rw={{ rw }} --bs=1m --size=8g\n"
    assert said(text, name="bench.yml") == [(5, "warning", "write-without-sync")]
