"""Figures in documents, between two marks, so that a tool writes them and nobody by hand."""

import pathlib
import re

from benchkit import files, places


def replace(path, name, page):
    """Puts `page` between the marks `measured:NAME:begin` and `:end` of a Markdown file.

    errors  places.Missing  no such file, or it has not exactly one such pair
    """
    path = pathlib.Path(path)
    begin, end = f"<!-- measured:{name}:begin -->", f"<!-- measured:{name}:end -->"
    try:
        whole = path.read_text(encoding="utf-8")
    except OSError as error:
        raise places.Missing(f"{path} cannot be read: {error.strerror}") from error
    pattern = re.compile(re.escape(begin) + r".*?" + re.escape(end), re.S)
    if len(pattern.findall(whole)) != 1:
        raise places.Missing(f"{path} has not exactly one pair of the marks {begin} and {end}")
    files.write(path, pattern.sub(lambda _: f"{begin}\n{page.strip()}\n{end}", whole))
