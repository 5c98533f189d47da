"""A report as a list of blocks, and three ways to write it: Markdown, one HTML file, DOCX.

Blocks: ("heading", level, text) ("text", text) ("list", [text]) ("table", head, rows) ("image", caption, path)
("code", text). Text may hold **bold** and `code`.
"""

import base64
import html
import pathlib
import re

from benchkit import text

_INLINE = re.compile(r"\*\*(.+?)\*\*|`(.+?)`")
_CSS = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60em; margin: 2em auto; padding: 0 1em; color: #222; }
table { border-collapse: collapse; font-size: 13px; margin: 1em 0; display: block; overflow-x: auto; }
th, td { border: 1px solid #ccc; padding: .25em .6em; text-align: right; } th { background: #f2f2f2; }
th:first-child, td:first-child { text-align: left; } img { max-width: 100%; }
figure { margin: 1em 0; } figcaption { font-size: 13px; color: #555; }
code, pre { background: #f5f5f5; font-size: 13px; } pre { padding: .6em; overflow-x: auto; }
"""


def _pieces(line):
    """Text as (kind, piece): kind is plain, bold or code."""
    at = 0
    for match in _INLINE.finditer(line):
        if match.start() > at:
            yield "plain", line[at : match.start()]
        yield ("bold", match[1]) if match[1] else ("code", match[2])
        at = match.end()
    if at < len(line):
        yield "plain", line[at:]


def to_markdown(blocks):
    out = []
    for kind, *rest in blocks:
        if kind == "heading":
            out.append("#" * rest[0] + " " + rest[1])
        elif kind == "text":
            out.append(rest[0])
        elif kind == "list":
            out.append("\n".join("- " + line for line in rest[0]))
        elif kind == "table":
            out.append(text.markdown_table(*rest))
        elif kind == "image":
            out.append(f"![{rest[0]}]({pathlib.Path(rest[1]).name})")
        else:
            out.append("```text\n" + rest[0] + "\n```")
    return "\n\n".join(out) + "\n"


def _inline_html(line):
    tag = {"bold": "b", "code": "code"}
    return "".join(
        html.escape(piece) if kind == "plain" else f"<{tag[kind]}>{html.escape(piece)}</{tag[kind]}>"
        for kind, piece in _pieces(str(line))
    )


def to_html(blocks, title):
    out = []
    for kind, *rest in blocks:
        if kind == "heading":
            out.append(f"<h{rest[0]}>{_inline_html(rest[1])}</h{rest[0]}>")
        elif kind == "text":
            out.append(f"<p>{_inline_html(rest[0])}</p>")
        elif kind == "list":
            out.append("<ul>" + "".join(f"<li>{_inline_html(line)}</li>" for line in rest[0]) + "</ul>")
        elif kind == "table":
            head = "".join(f"<th>{_inline_html(cell)}</th>" for cell in rest[0])
            rows = "".join(
                "<tr>" + "".join(f"<td>{_inline_html(cell)}</td>" for cell in row) + "</tr>" for row in rest[1]
            )
            out.append(f"<table><tr>{head}</tr>{rows}</table>")
        elif kind == "image":
            data = base64.b64encode(pathlib.Path(rest[1]).read_bytes()).decode()
            out.append(
                f'<figure><img alt="{html.escape(rest[0])}" src="data:image/png;base64,{data}">'
                f"<figcaption>{_inline_html(rest[0])}</figcaption></figure>"
            )
        else:
            out.append(f"<pre>{html.escape(rest[0])}</pre>")
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{html.escape(title)}</title>'
        f"<style>{_CSS}</style></head><body>\n" + "\n".join(out) + "\n</body></html>\n"
    )


def to_docx(blocks, path):
    import docx
    from docx.shared import Cm, Pt

    document = docx.Document()
    for section in document.sections:
        section.left_margin = section.right_margin = Cm(2)
    wide = Cm(17)

    def fill(paragraph, line, size=None):
        for kind, piece in _pieces(str(line)):
            run = paragraph.add_run(piece)
            run.bold = kind == "bold" or None
            if kind == "code":
                run.font.name = "Courier New"
            if size:
                run.font.size = Pt(size)

    for kind, *rest in blocks:
        if kind == "heading":
            document.add_heading(rest[1], rest[0] - 1)
        elif kind == "text":
            fill(document.add_paragraph(), rest[0])
        elif kind == "list":
            for line in rest[0]:
                fill(document.add_paragraph(style="List Bullet"), line)
        elif kind == "table":
            table = document.add_table(rows=0, cols=len(rest[0]), style="Light Grid Accent 1")
            for row in [rest[0], *rest[1]]:
                for cell, value in zip(table.add_row().cells, row):
                    fill(cell.paragraphs[0], value, size=7)
            document.add_paragraph()
        elif kind == "image":
            document.add_picture(str(rest[1]), width=wide)
            fill(document.add_paragraph(), rest[0], size=9)
        else:
            run = document.add_paragraph().add_run(rest[0])
            run.font.name, run.font.size = "Courier New", Pt(8)
    document.save(str(path))
