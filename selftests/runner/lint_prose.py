#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
scripts/lint-prose finds subjects that are not "area: verb object" and phrases in the
prose of changed files, leaves code and good sentences alone, and does not fail.
"""

import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from lib.python.uncore import Tap  # noqa: E402

TOP = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))

# Subjects, and what the script says of them.
SUBJECTS = [
    ("kmod: claim late PMIs in NMI_LOCAL", None),
    ("selftests/reload: pass the number of rounds", None),
    ("kmod, sim: read the clock under the lock", None),
    ("die map: feed both pages from one stream", None),
    ('Revert "kmod: claimed late PMIs"', None),
    ("kmod: " + "x" * 66, None),
    ("kmod: " + "x" * 67, "73 characters (at most 72)"),
    ("claim late PMIs", 'no area (expected "area: verb object")'),
    ("kmod: claimed late PMIs", '"claimed" is not an imperative verb'),
    ("kmod: claims late PMIs", '"claims" is not an imperative verb'),
    ("kmod: claiming late PMIs", '"claiming" is not an imperative verb'),
    ("kmod: the late PMIs", '"the" is not an imperative verb'),
    ("kmod: NMIs are late", '"NMIs" is not an imperative verb'),
]

# Files, and the lines where a phrase is found.
FILES = [
    ("a.c", "/* The box is frozen.\n * Nobody reads it. */\n", [2]),
    ("b.c", 'int nobody;\nconst char *s = "nobody";\n', []),
    ("c.cpp", '// first\nfail("%s is no terminal", name);\n', [2]),
    ("d.py", '#!/usr/bin/env python3\n"""\nThe reader.\nIt goes on.\n"""\nnobody = 1\n', [4]),
    ("script", "#!/bin/sh\n# so many of them\necho nobody\n", [2]),
    ("e.rst", "A box stands still.\n\nThere is no filter.\n", [1]),
    ("uncore-x.1.in", "It is no longer\nread by somebody.\n", [2]),
    ("data.json", '{"a": "nobody reads this"}\n', []),
]


def git(folder, *arguments):
    subprocess.run(
        ["git", "-c", "user.name=t", "-c", "user.email=t@t", "-c", "commit.gpgsign=false",
         *arguments], cwd=folder, check=True, stdout=subprocess.DEVNULL)


def run(folder, *arguments):
    """Exit status and lines of the script."""
    done = subprocess.run([os.path.join(TOP, "scripts", "lint-prose"), *arguments],
                          cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          encoding="utf-8", check=False)
    return done.returncode, done.stdout.splitlines()


def write(folder, name, text):
    with open(os.path.join(folder, name), "w", encoding="utf-8") as out:
        out.write(text)


def check_subjects(tap, folder):
    for subject, _ in SUBJECTS:
        git(folder, "commit", "-q", "--allow-empty", "-m", subject)
    status, lines = run(folder, "-n", str(len(SUBJECTS)))
    for subject, fault in SUBJECTS:
        said = [line.split(": ", 1)[1] for line in lines if line.endswith(": " + subject)]
        tap.ok(said == (["%s: %s" % (fault, subject)] if fault else []),
               "%s: %s" % (subject, fault or "no fault"), lines)
    bad = sum(1 for _, fault in SUBJECTS if fault)
    tap.ok(status == 0 and lines[-2].startswith("%d of %d subjects" % (bad, len(SUBJECTS))),
           "the faults are counted and are not an error", lines)
    tap.ok(run(folder, "-n", "1")[1][-2].startswith("1 of 1 subjects"),
           "-n limits the commits", lines)


def check_files(tap, folder):
    for name, text, places in FILES:
        write(folder, name, text)
        status, lines = run(folder, name)
        found = [int(line.split(":")[1]) for line in lines[:-1]]
        tap.ok(status == 0 and found == places,
               "%s: phrases in lines %s" % (name, places), lines)


def check_pipe(tap, folder):
    """A reader that closes its pipe early is not an error."""
    write(folder, "long.md", "nobody\n" * 10000)
    done = subprocess.run(
        ["sh", "-c", '"$0" long.md | head -n 1',
         os.path.join(TOP, "scripts", "lint-prose")], cwd=folder,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", check=False)
    tap.ok(done.stdout.startswith('long.md:1: "nobody"') and done.stdout.count("\n") == 1,
           "one line to head", done.stdout.splitlines())


def check_changed(tap, folder):
    """Files of the last commits and of the working tree, and no others."""
    for name in ("old.md", "committed.md", "edited.md"):
        write(folder, name, "nobody\n" if name != "edited.md" else "\n")
        git(folder, "add", name)
        git(folder, "commit", "-q", "-m", "docs: add " + name)
    git(folder, "rm", "-q", "old.md")
    git(folder, "commit", "-q", "-m", "docs: remove old.md")
    write(folder, "old.md", "nobody\n")
    git(folder, "add", "old.md")
    git(folder, "commit", "-q", "-m", "docs: add old.md again")
    git(folder, "commit", "-q", "--allow-empty", "-m", "docs: do nothing")
    write(folder, "edited.md", "nobody\n")
    for commits, expected in ((1, {"edited.md"}), (2, {"edited.md", "old.md"}),
                              (5, {"edited.md", "old.md", "committed.md"})):
        lines = run(folder, "-n", str(commits))[1]
        found = {line.split(":")[0] for line in lines if "nobody" in line}
        tap.ok(found == expected, "%d commits: %s" % (commits, sorted(expected)), lines)


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        status, lines = run(folder)
        tap.ok(status == 0 and len(lines) == 1, "a folder without a repository", lines)
        git(folder, "init", "-q")
        check_subjects(tap, folder)
        check_files(tap, folder)
        check_pipe(tap, folder)
        check_changed(tap, folder)
        for arguments in (["-n", "0"], ["-n", "x"], ["absent.md"]):
            status, lines = run(folder, *arguments)
            tap.ok(status == 2 and arguments[-1] in lines[-1],
                   "refused: " + " ".join(arguments), lines)
    tap.end()


if __name__ == "__main__":
    main()
