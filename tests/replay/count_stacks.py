#!/usr/bin/env python3
"""Adds up the values below stacks in output of dtrace(1), by a way of its own.

For every FILE (also .gz) prints the file's name, the number of stacks and the sum of the values right below them; for a distribution the sum of its
counts. Stacks are runs of frame lines; one blank line may part two runs of one row. It knows nothing of the keys' columns, and is meant for files that
hold stacks; tests/replay/sums.rs compares the sums with those of `-f folded`.
"""
import gzip
import re
import sys

FRAME = re.compile(rb"^ *([^\s`'\"(),;=]+`\S.*|0x[0-9a-f]+)$")
ROW_END = re.compile(rb"\s-?\d+$")
NUMBER = re.compile(rb"^ *-?\d+$")
BUCKET = re.compile(rb"^ *(?:[<>]=? )?-?\d+ [@ ]*\|[@ ]* (-?\d+) *$")


def is_frame(line):
    return FRAME.match(line) and not ROW_END.search(line)


def runs(lines, at):
    """The index behind the frames that begin at `at`, over one blank line between two runs."""
    while True:
        while at < len(lines) and is_frame(lines[at]):
            at += 1
        if at + 1 < len(lines) and lines[at] == b"" and is_frame(lines[at + 1]):
            at += 1
            continue
        return at


def values(lines):
    at = 0
    while at < len(lines):
        if not is_frame(lines[at]):
            # An empty stack: its value stands alone below padded keys, or below the blank line of a stack without keys.
            padded = len(lines[at]) >= 52 and lines[at].startswith(b"  ") and lines[at].endswith(b" ")
            if padded and at + 1 < len(lines) and NUMBER.match(lines[at + 1]):
                yield int(lines[at + 1])
                at += 1
            at += 1
            continue
        at = runs(lines, at)
        if at < len(lines) and lines[at] == b"":
            at += 1
        if at < len(lines) and b"Distribution" in lines[at]:
            at += 1
            count = 0
            while at < len(lines) and (bucket := BUCKET.match(lines[at])):
                count += int(bucket.group(1))
                at += 1
            yield count
        elif at < len(lines) and (NUMBER.match(lines[at]) or (lines[at][:1] == b" " and ROW_END.search(lines[at]))):
            yield int(lines[at].split()[-1])
            at += 1


for path in sys.argv[1:]:
    opened = gzip.open(path) if path.endswith(".gz") else open(path, "rb")
    with opened as file:
        found = list(values(file.read().split(b"\n")))
    print(path, len(found), sum(found))
