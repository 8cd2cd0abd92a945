"""Plays a year of nights; scripts/year runs it with its options."""

import argparse
import json
import signal
import socket
import sys
import tempfile
import time
import traceback

import events
import promises
from database import Database
from figures import Figures
from machine import ROOT, Machine
from picture import svg
from plan import Plan
from year import Year


def main():
    options = argparse.ArgumentParser(prog="scripts/year")
    options.add_argument("--nights", type=int, default=365)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--bin", required=True)
    options.add_argument("--directory", required=True)
    options.add_argument("--postgres", required=True)
    options.add_argument("--libraries", nargs="+", required=True)
    options = options.parse_args()
    began = time.monotonic()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    plan = Plan(options.nights, options.seed)
    year = None
    machine = Machine(options.libraries, options.postgres)
    try:
        database = Database(ROOT, options.postgres, machine)
        year = Year(plan, options.seed, options.bin, options.directory, machine, database, free_port(), say)
        year.begin()
        next_check = 29
        for night in range(1, options.nights):
            if night in year.skipped:
                continue
            year.play(night)
            if night >= next_check or night >= options.nights - 1:
                promises.check(year)
                next_check += 30
            if len(year.broken) > 40:
                break
        else:
            figures = Figures(year)
            for sentence in figures.sentences:
                year.breaks(sentence)
            events.pause(year)
            write(options.directory + "/year.md", "".join(line + "\n" for line in figures.lines()))
            write(options.directory + "/year.svg", svg(year.measures, plan))
    except Exception:
        traceback.print_exc()
        if year:
            year.breaks("the year could not go on")
    finally:
        if year:
            year.product.stop()
            year.store.stop()
            year.database.stop("immediate")
            write(options.directory + "/nights.jsonl", "".join(json.dumps(measured) + "\n" for measured in year.measures))
        machine.remove()
    broken = year.broken if year else ["the year could not begin"]
    say(
        f"{options.nights} nights, {len(broken)} promises broken, {time.monotonic() - began:.0f} s"
        + (f"; again: scripts/year --nights {options.nights} --seed {options.seed}" if broken else "")
    )
    return 1 if broken else 0


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def write(path, text):
    with open(path, "w") as file:
        file.write(text)


def say(text):
    print(text, flush=True)


sys.exit(main())
