#!/usr/bin/env python3
"""Counts the sums of samples, by other means than seatrace: a line `== FILE`, then lines `what<TAB>rows<TAB>sum`.

usage: count.py FORMAT FILE...
"""
import json
import re
import sys
from fractions import Fraction


def emit(what, numbers):
    numbers = list(numbers)
    print(f"{what}\t{len(numbers)}\t{sum(numbers)}")


def unescape(text):
    return re.sub(r"\\(.)", lambda m: {"n": "\n", "t": "\t", "0": "\0", "\\": "\\"}.get(m[1], m[0]), text)


def table(text):
    """Rows as dicts; only for cells without line feeds, except in XML."""
    if "<resultset" in text:
        for row in re.findall(r"<row>(.*?)</row>", text, re.S):
            yield dict(re.findall(r'<field name="([^"]*)"[^/>]*>(.*?)</field>', row, re.S))
    elif "*** 1. row ***" in text:
        for row in re.split(r"^\*+ \d+\. row \*+\n", text, flags=re.M)[1:]:
            found = {}
            for name, value in re.findall(r"^ *([\w()]+): (.*)$", row, re.M):
                found.setdefault(name.lower(), value)
            yield found
    elif re.search(r"^\+-", text, re.M):
        lines = [line for line in text.split("\n") if line.startswith("| ")]
        names = [name.strip().lower() for name in lines[0].strip("|").split(" | ")]
        for line in lines[1:]:
            cells = [cell.strip() for cell in re.sub(r"^\| | \|$", "", line).split(" | ")]
            if len(cells) == len(names):
                yield dict(zip(names, cells))
    else:
        names, *lines = text.rstrip("\n").split("\n")
        for line in lines:
            yield dict(zip(names.lower().split("\t"), line.split("\t")))


def perf_schema(name, text):
    if name.startswith("escapes"):
        times = re.findall(r"^statement/\S+\t(\d+)\t", text, re.M)
        return emit("queries", (int(time) // 1000 for time in times))
    if name.startswith("statements_history_long"):
        pattern = {
            "table": r"^\|\s+\d+ \|\s+\d+ \| statement/.*?\|\s+(\d+) \|",
            "verti": r"^ +timer_wait: (\d+)$",
            "batch": r"^\d+\t\d+\tstatement/[^\t]*\t(\d+)\t",
        }[name.split(".")[1][:5]]
        return emit("queries", ((int(time) + 500) // 1000 for time in re.findall(pattern, text, re.M)))
    if "noheader" in name:
        text = "path\ttimer_wait\n" + text
    rows = list(table(text))
    if name == "statements.xml.txt":
        return emit("queries", ((int(row["timer_wait"]) + 500) // 1000 for row in rows))
    if "digest" in name:
        emit("sum ps", (int(row["sum_timer_wait"]) for row in rows))
        return emit("count count", (int(row["count_star"]) for row in rows))
    if "nesting_event_id" in rows[0]:
        events = {(row["thread_id"], row["event_id"]): row for row in rows}
        own = {key: int(row["timer_wait"]) for key, row in events.items()}
        for (thread, _), row in events.items():
            above = (thread, row["nesting_event_id"])
            if above in own:
                own[above] -= int(row["timer_wait"])
        print(f"sum ps\t-\t{sum(max(0, time) for time in own.values())}")
    elif "path" in rows[0]:
        own = {row["path"]: int(row["timer_wait"]) for row in rows}
        for row in rows:
            above = row["path"].rpartition(";")[0]
            if above in own:
                own[above] -= int(row["timer_wait"])
        emit("sum ps", (max(0, time) for time in own.values()))
    else:
        times = ["sum_timer_wait", "timer_wait", "sum(timer_wait)", "value"]
        column = next(name for name in times if name in rows[0])
        sums = {}
        for row in rows:
            key = row.get("event_name") or row.get("stack")
            sums[key] = sums.get(key, 0) + int(row[column])
        emit("sum ps", sums.values())


def plan(name, text):
    if "select_type" in text:
        rows, loops, last = [], Fraction(1), None
        for row in table(text):
            if row["id"] != last:
                loops, last = Fraction(1), row["id"]
            read = Fraction(row["r_rows"]) if row["r_rows"] != "NULL" else 0
            rows.append(int(read * loops + Fraction(1, 2)))
            loops *= read * (Fraction(row["r_filtered"]) if row["r_filtered"] != "NULL" else 100) / 100
        return emit("sum rows", rows)
    if "-> " in text:
        tail = re.search(r"-> .*actual time=[\d.]+\.\.([\d.]+) rows=\S+ loops=(\d+)\)", text)
        steps = len(re.findall(r"^(?:EXPLAIN: )? *-> ", text, re.M))
        return print(f"sum us\t{steps}\t{int(Fraction(tail[1]) * 1000 * int(tail[2]) + Fraction(1, 2))}")
    text = text[text.index("{"):text.rindex("}") + 1]
    text = unescape(text) if text.startswith("{\\n") else text
    # Only the times matter: texts of conditions, valid or not, are taken out.
    text = re.sub(r'^( *"\w*(?:condition|sort_key)": ).*?(,?)$', r'\1""\2', text, flags=re.M)
    document = json.loads(text, parse_float=Fraction, parse_int=Fraction)

    def total(block):
        """A block's time, or where it has none that of the blocks inside."""
        if isinstance(block, list):
            return sum(total(part) for part in block)
        if not isinstance(block, dict):
            return 0
        inner = sum(total(part) for part in block.values())
        return max(block.get("r_total_time_ms", 0), inner) if "select_id" in block else inner

    times = document["query_optimization"]["r_total_time_ms"] + total(document["query_block"])
    print(f"sum us\t-\t{int(times * 1000 + Fraction(1, 2))}")


def bpftrace(name, text):
    if ".json" in name:
        for line in text.split("\n"):
            kind = re.match(r'\{"type": "(\w+)", "data": \{"@(\w*)": ', line)
            if not kind or kind[2] in ("q", "db"):
                continue
            if kind[1] == "hist":
                emit(f"{kind[2]} hist", (int(count, 16) for count in re.findall(r'"count": ([0-9a-f]+)', line)))
            elif '"average"' in line:
                emit(kind[2], [int(re.search(r'"total": (\d+)', line)[1])])
            else:
                emit(kind[2], (int(number) for number in re.findall(r'": (\d+)[,}]', line)))
        return
    current, maps, spreads = None, {}, {}
    for line in text.split("\n"):
        start = re.match(r"@(\w*)(?=[\[:])", line)
        if start:
            current = start[1]
        number = re.search(r"(?:^|\]|@\w*): (-?\d+)$", line)
        stats = re.search(r"\.total = (\d+)", line)
        bucket = re.match(r"[\[(].*[\])]\s+(\d+) \|", line)
        if bucket:
            spreads.setdefault(current, []).append(int(bucket[1]))
        elif stats:
            maps.setdefault(current, []).append(int(stats[1]))
        elif number and current not in ("q", "db"):
            maps.setdefault(current, []).append(int(number[1]))
    for name, numbers in maps.items():
        emit(name, numbers)
    for name, counts in spreads.items():
        emit(f"{name} hist", counts)


def count(kind, path):
    print(f"== {path}")
    with open(path, encoding="utf-8", errors="surrogateescape", newline="") as file:
        text = file.read()
    name = path.rsplit("/", 1)[-1]
    if kind == "perf-schema":
        perf_schema(name, text)
    elif kind == "plan":
        plan(name, text)
    elif kind == "psn":
        emit("all", (int(number) for number in re.findall(r"^ +(\d+) \|", text, re.M)))
    elif kind == "bcc":
        folded = re.findall(r"^\S.*;.* (\d+)$", text, re.M)
        emit("all", (int(number) for number in folded or re.findall(r"^ +(\d+)$", text, re.M)))
    elif kind == "bcc-hist":
        emit("hist", (int(count) for count in re.findall(r" : (\d+) +\|", text)))
    elif kind == "bpftrace":
        bpftrace(name, text)
    elif kind == "qslower":
        emit("queries", (int(Fraction(time) * 1000000) for time in re.findall(r"^[\d.]+ +\d+ +([\d.]+) ", text, re.M)))
    elif kind == "xstack":
        emit("all", (1 for line in text.split("\n") if line.startswith("20")))


for sample in sys.argv[2:]:
    count(sys.argv[1], sample)
