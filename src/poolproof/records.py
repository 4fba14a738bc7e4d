"""Files in /run that show what poolproof changed on a machine since the machine was started.

A journal and the notes in a state directory may come from a stranger, who can write anything into them. Some undos can
harm a machine even if all of their fields are valid, because they write to a disk or change a setting. Such an undo
also needs a record on the machine that the change was made on. Only root can write to /run, and /run is empty after a
reboot. A record also contains the boot ID, because in a container, /run may not be empty after a reboot.

A record belongs to the note of an undo. `kind` is part of the record's name.
"""

RECORDS = """
record_of() { echo "/run/poolproof-$1-$(printf %s "$2" | sha256sum | cut -c 1-32)"; }
boot_id() { cat /proc/sys/kernel/random/boot_id; }
keep_record() (
  umask 077; set -C
  record=$(record_of "$1" "$2"); shift 2
  rm -f -- "$record"
  printf '%s\\n' "$(boot_id)" "$@" >"$record"
)
read_record() {
  record=$(record_of "$1" "$2")
  [ -O "$record" ] && [ ! -L "$record" ] && [ "$(sed -n 1p -- "$record")" = "$(boot_id)" ] && sed 1d -- "$record"
}
forget_record() { rm -f -- "$(record_of "$1" "$2")"; }
"""
"""Shell functions. Each of them takes the kind of the record and the path of the note.

`keep_record KIND NOTE LINE…` writes a record. `read_record KIND NOTE` prints the lines of a record, and fails if
poolproof did not write it since the last boot. `forget_record KIND NOTE` removes a record.
"""
