"""A year of nights as an SVG: a small chart for each figure, a dot for each night, a line for the nights with an event."""

WIDTH, HEIGHT, LEFT, GAP = 900, 110, 70, 34
CHARTS = [
    ("requests", "requests a night", 1), ("records", "records in Apple's answers", 1), ("seconds", "seconds of a night's run", 1), ("wal", "write-ahead log of a night, KiB", 1024),
    ("peak", "memory of the run, MiB", 1024), ("receiver", "memory of the receiver, MiB", 1024), ("bytes", "the ledger, MiB", 1024 * 1024),
]


def svg(nights, plan):
    last = max(night["night"] for night in nights)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{len(CHARTS) * (HEIGHT + GAP) + 20}" '
        'font-family="sans-serif" font-size="12"><rect width="100%" height="100%" fill="white"/>'
    ]

    def across(night):
        return LEFT + (WIDTH - LEFT - 20) * night / max(1, last)

    for place, (name, title, unit) in enumerate(CHARTS):
        top = place * (HEIGHT + GAP) + 20
        values = [(night["night"], night[name] / unit, night["plain"]) for night in nights if night.get(name) is not None]
        most = max((value for _, value, _ in values), default=1) or 1
        parts.append(f'<text x="{LEFT}" y="{top - 5}">{title}</text>')
        for part in (0, 0.5, 1):
            y = top + HEIGHT * (1 - part)
            parts.append(f'<path d="M{LEFT} {y:.1f}H{WIDTH - 20}" stroke="#ddd"/>')
            parts.append(f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end" fill="#555">{most * part:,.0f}</text>')
        lines = "".join(f"M{across(night):.1f} {top}v{HEIGHT}" for night in sorted(plan.runs))
        parts.append(f'<path d="{lines}" stroke="#e6b8a2" stroke-width="0.7"/>')
        for wanted, colour in ((False, "#999"), (True, "#2a6f97")):
            # A line of no length with round ends is a dot.
            dots = "".join(
                f"M{across(night):.1f} {top + HEIGHT * (1 - value / most):.1f}h0" for night, value, plain in values if plain == wanted
            )
            parts.append(f'<path d="{dots}" stroke="{colour}" stroke-width="3.6" stroke-linecap="round"/>')
    return "\n".join(parts + ["</svg>"]) + "\n"
