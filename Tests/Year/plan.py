"""Which nights have which events. The seed decides."""

import random

# What takes the place of the nightly run, and where in the year, as a part of it; at most one a night.
ONCE = {
    "silence": 0.10, "too many requests": 0.17, "refused tokens": 0.28, "long night": 0.35, "failover": 0.43,
    "upgrade": 0.50, "full disk": 0.57, "restore": 0.66, "clock back": 0.76, "full output disk": 0.85,
}
# The same, every so many nights.
OFTEN = {"killed run": 8, "erratic answers": 9, "stopped database": 21}
# What happens on the same night as the run.
BESIDE = {"killed receiver": 7, "batch": 6, "erasure": 15, "approval that expires": 30, "entries by hand": 30, "price change": 45}
# A week of nights, or two of a month.
SPELLS = {"too many requests": 7}


class Plan:
    def __init__(self, nights, seed):
        self.nights = nights
        chance = random.Random(f"plan {seed}")
        self.runs = {}
        self.beside = {night: [] for night in range(nights)}
        for name, part in ONCE.items():
            length = min(SPELLS.get(name, 1), max(1, nights // 15))
            first = int(nights * part) + chance.randrange(max(1, nights // 100))
            while any(night in self.runs for night in range(first, first + length + 1)):
                first += 1
            for night in range(first, first + length):
                # The night before a restore makes the dump.
                if (1 if name == "restore" else 0) < night < nights - 1:
                    self.runs[night] = name
        for name, every in OFTEN.items():
            for night in range(1 + chance.randrange(every), nights - 1, every):
                self.runs.setdefault(night, name)
        for name, every in BESIDE.items():
            for night in range(1 + chance.randrange(min(every, max(1, nights - 3))), nights - 1, every):
                self.beside[night].append(name)
        for night, name in self.runs.items():
            if name == "restore":
                # Nothing is sent to Apple between the dump and the restore: the ledger would not know of it.
                for near in (night - 1, night):
                    self.beside[near] = [event for event in self.beside[near] if event in ("killed receiver", "erasure")]
                # A customer whom the dump still has.
                if "erasure" not in self.beside[night - 1]:
                    self.beside[night - 1].append("erasure")

    def run(self, night):
        return self.runs.get(night)

    def is_plain(self, night):
        """Whether the night can be compared with others."""
        return night > 0 and night not in self.runs and night - 1 not in self.runs and not self.beside.get(night)

    def events(self, night):
        return ([self.runs[night]] if night in self.runs else []) + self.beside[night]
