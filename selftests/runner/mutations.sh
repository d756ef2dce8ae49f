#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# All mutations of selftests/runner/mutate apply to the sources as they are, and one that does
# not apply is noticed: it tests nothing.
cd "$(dirname "$(readlink -f "$0")")/../.." || exit 1
# shellcheck source=selftests/lib/shell/tap.sh
. selftests/lib/shell/tap.sh
list=$(mktemp)
trap 'rm -f "$list"' EXIT

said=$(selftests/runner/mutate --dry-run)
tap_ok $? 'every mutation applies' || tap_diag "$said"

# try FIND FILE [WITHIN]: a list with this mutation alone
try()
{
	printf '%s\n' "=== $2" '[stale] exact' ${3+"@ $3"} "- $1" > "$list"
	said=$(selftests/runner/mutate --dry-run --list "$list" 2>&1)
}

try 'MODULE_LICENSE("GPL");' kmod/main.c
tap_ok $? 'a text that is there once applies' || tap_diag "$said"
try 'no such text' kmod/main.c
tap_eq "$?$said" "1stale does not apply any more: kmod/main.c must have 'no such text' once" \
	'a text that is not there is noticed'
try 'pr_err(' kmod/main.c
tap_eq "$?" 1 'a text that is there several times is noticed'
try 'MODULE_LICENSE("GPL");' kmod/main.c 'no such function'
tap_eq "$?" 1 'and a function that is not there'
try 'text' kmod/no_such.c
tap_eq "$?$said" '1stale does not apply any more: there is no kmod/no_such.c' \
	'and a file that is not there'

# The harness makes a process group of each test. Print whether that of a test is still
# there when mutate has seen a "not ok" and ended the program.
said=$(python3 - << 'END'
import importlib.machinery
import importlib.util
import os
import sys

PROGRAM = """
import os, time
reader, writer = os.pipe()
pid = os.fork()
if not pid:
    os.setpgrp()
    os.write(writer, b"ready")
else:
    os.read(reader, 5)
    print("not ok 1 of group", pid, flush=True)
time.sleep(1000)
"""
sys.dont_write_bytecode = True
loader = importlib.machinery.SourceFileLoader("mutate", "selftests/runner/mutate")
mutate = importlib.util.module_from_spec(importlib.util.spec_from_loader("mutate", loader))
loader.exec_module(mutate)
sign, _ = mutate.run_test(mutate.Test("", "python3 -c '%s'" % PROGRAM), dict(os.environ))
text, _, pid = sign.rpartition(" ")
try:
    with open("/proc/%s/stat" % pid, encoding="utf-8") as file:
        left = file.read().rpartition(")")[2].split()[0] not in "ZX"
except FileNotFoundError:
    left = False
print(text, "goes on" if left else "has ended")
END
)
tap_eq "$said" 'not ok 1 of group has ended' 'a test ends with its program'
tap_end
