"""Numbers and tables as text."""

UNKNOWN = "-"


def number(value, digits=1, mark=""):
    """1234.56 -> '1,234.6'; unknown -> '-'. `mark` stands in front: '~' for what was extrapolated."""
    if value is None:
        return UNKNOWN
    return f"{mark}{value:,.{digits}f}"


def seconds(value_ms, mark=""):
    """Milliseconds as seconds with three digits that matter."""
    if value_ms is None:
        return UNKNOWN
    value = value_ms / 1000
    return number(value, 3 if value < 1 else 2 if value < 100 else 0, mark)


def with_spread(values, show, mark=""):
    """'12.3 (11.9 to 12.8)' of a spread() and a function for one of its values."""
    if values["median"] is None:
        return UNKNOWN
    middle = mark + show(values["median"])
    if values["n"] < 2:
        return middle
    return f"{middle} ({show(values['min'])} to {show(values['max'])})"


def duration(total_s):
    """75 -> '1 min 15 s'."""
    total = round(total_s)
    if total < 60:
        return f"{total} s"
    if total < 3600:
        return f"{total // 60} min {total % 60} s"
    return f"{total // 3600} h {total % 3600 // 60} min"


def markdown_table(head, rows):
    """A table; the first column to the left, the others to the right."""
    lines = ["| " + " | ".join(head) + " |", "|" + "|".join(["---"] + ["---:"] * (len(head) - 1)) + "|"]
    lines += [
        "| " + " | ".join(str(cell).replace("|", "\\|").replace("\n", " ") for cell in row) + " |" for row in rows
    ]
    return "\n".join(lines)


def count(n, word):
    """'1 trial', '3 trials'."""
    return f"{n:,} {word}{'' if n == 1 else 's'}"


def whereabouts(environment, llama):
    """The first lines of a report: when and where it was measured, and what. `environment`: machine.describe()."""
    tree = environment["swarmkv"]
    state = ", changed since" if tree["dirty"] else ""
    return [
        f"- {environment['date']}, {environment['cpu']} ({environment['simd']}), {environment['cores']} cores, "
        f"{environment['memory_gib']} GiB, {environment['system']}, load {environment['load_average_at_start']} at "
        "the start",
        f"- SwarmKV commit {(tree['commit'] or 'unknown')[:12]}{state}; {llama}",
    ]
