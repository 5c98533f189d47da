"""Files that are whole or not there, and lines that survive an interruption."""

import json
import os
import pathlib


def write(path, data):
    """Writes text or bytes through a temporary name, so that a reader never sees half of it."""
    path = pathlib.Path(path)
    temporary = path.with_name(path.name + ".tmp")
    temporary.write_bytes(data.encode() if isinstance(data, str) else data)
    os.replace(temporary, path)


def write_json(path, value):
    write(path, json.dumps(value, indent=1, ensure_ascii=False) + "\n")


def append_line(path, value):
    """One JSON object a line, on disk when this returns. A torn last line is ended first."""
    line = json.dumps(value, ensure_ascii=False) + "\n"
    with open(path, "ab+") as file:
        if file.seek(0, os.SEEK_END) > 0:
            file.seek(-1, os.SEEK_END)
            if file.read(1) != b"\n":
                file.write(b"\n")
        file.write(line.encode())
        file.flush()
        os.fsync(file.fileno())


def read_lines(path):
    """The objects of a file of lines, without lines that an interruption tore; [] if there is no file."""
    objects = []
    try:
        lines = pathlib.Path(path).read_text(encoding="utf-8", errors="replace").splitlines()
    except FileNotFoundError:
        return []
    for line in lines:
        try:
            value = json.loads(line)
        except ValueError:
            continue
        if isinstance(value, dict):
            objects.append(value)
    return objects
