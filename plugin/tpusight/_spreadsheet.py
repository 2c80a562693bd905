# SPDX-License-Identifier: Apache-2.0
"""A report as a spreadsheet: Office Open XML (ECMA-376), a sheet for each table, written with the standard library alone.

The first sheet has the single values by their names; the others are named after their tables (`ops`, `operators.by_name`).
Numbers are numbers, what is unknown is an empty cell, lists are JSON. Numbers that a spreadsheet cannot hold exactly
(above 2^53) are texts.
"""
import json
import re
import zipfile
from typing import Any, Dict, Iterator, List, Tuple
from xml.sax.saxutils import escape

#: what a sheet can hold
_ROWS, _LETTERS, _NAME = 1048576, 32767, 31
_EXACT = 2 ** 53
#: not figures of the profile, or pictures and not tables
_LEFT_OUT = {"provenance", "tracks", "heatmap", "clocks", "generator", "schema"}
_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_NOT_IN_NAMES = re.compile(r"[\[\]:*?/\\']")

_HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_KIND = "application/vnd.openxmlformats-officedocument.spreadsheetml"
#: style 0 for rows, 1 (bold) for headings; two fills are always there
_STYLES = (f'<styleSheet xmlns="{_MAIN}"><fonts count="2"><font><sz val="11"/><name val="Calibri"/></font>'
           '<font><b/><sz val="11"/><name val="Calibri"/></font></fonts>'
           '<fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills>'
           '<borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>'
           '<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>'
           '<cellXfs count="2"><xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/>'
           '<xf numFmtId="0" fontId="1" fillId="0" borderId="0" xfId="0" applyFont="1"/></cellXfs>'
           '<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>')

Sheet = Tuple[str, List[str], List[List[Any]]]


def _is_table(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(row, dict) for row in value)


def _parts(of: Dict[str, Any], path: str = "") -> Iterator[Tuple[str, Any]]:
    """Tables and single values, by their paths in the report."""
    for name, value in of.items():
        if name in _LEFT_OUT:
            continue
        if isinstance(value, dict):
            yield from _parts(value, f"{path}{name}.")
        elif not isinstance(value, list) or value:
            yield path + name, value


def _columns(rows: List[Dict[str, Any]]) -> List[str]:
    return list(dict.fromkeys(name for row in rows for name in row))


def sheets_of(report: Dict[str, Any]) -> List[Sheet]:
    """The name, headings and rows of each sheet."""
    values: List[List[Any]] = []
    tables: List[Sheet] = []
    for path, value in _parts(report):
        if _is_table(value):
            columns = _columns(value)
            tables.append((path, columns, [[row.get(name) for name in columns] for row in value]))
        else:
            values.append([path, value])
    return [("report", ["name", "value"], values), *tables]


def _text(text: str) -> str:
    text = _FORBIDDEN.sub("\ufffd", text)
    return escape(text if len(text) <= _LETTERS else text[:_LETTERS - 1] + "\u2026")


def _cell(value: Any, style: str = "") -> str:
    if value is None or (isinstance(value, float) and (value != value or abs(value) == float("inf"))):
        return "<c/>"
    if isinstance(value, bool):
        return f'<c t="b"><v>{int(value)}</v></c>'
    if isinstance(value, (int, float)) and abs(value) <= _EXACT or isinstance(value, float):
        return f"<c><v>{value!r}</v></c>"
    text = value if isinstance(value, str) else json.dumps(value)
    return f'<c t="inlineStr"{style}><is><t xml:space="preserve">{_text(text)}</t></is></c>'


def _rows(columns: List[str], rows: List[List[Any]]) -> Iterator[str]:
    yield "<row>" + "".join(_cell(name, ' s="1"') for name in columns) + "</row>"
    for row in rows[:_ROWS - 1]:
        yield "<row>" + "".join(map(_cell, row)) + "</row>"


def _names(sheets: List[Sheet]) -> List[str]:
    """Each once, without regard to case, and as short as a sheet's name must be."""
    names: List[str] = []
    taken = set()
    for name, _, _ in sheets:
        plain = short = _NOT_IN_NAMES.sub("_", name)[:_NAME]
        number = 2
        while short.lower() in taken:
            short = f"{plain[:_NAME - len(str(number)) - 1]}~{number}"
            number += 1
        taken.add(short.lower())
        names.append(short)
    return names


def _index(names: List[str]) -> Dict[str, str]:
    """The files that say what the others are."""
    numbers = range(1, len(names) + 1)
    parts = "".join(f'<Override PartName="/xl/worksheets/sheet{n}.xml" ContentType="{_KIND}.worksheet+xml"/>' for n in numbers)
    links = "".join(f'<Relationship Id="r{n}" Type="{_OFFICE}/worksheet" Target="worksheets/sheet{n}.xml"/>' for n in numbers)
    sheets = "".join(f'<sheet name="{escape(name, {chr(34): "&quot;"})}" sheetId="{n}" r:id="r{n}"/>' for n, name in zip(numbers, names))
    return {
        "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types"><Default Extension="rels" '
        'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{_KIND}.sheet.main+xml"/>'
        f'<Override PartName="/xl/styles.xml" ContentType="{_KIND}.styles+xml"/>{parts}</Types>',
        "_rels/.rels": f'<Relationships xmlns="{_PACKAGE}/relationships"><Relationship Id="r1" '
        f'Type="{_OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><sheets>{sheets}</sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{_PACKAGE}/relationships">{links}'
        f'<Relationship Id="styles" Type="{_OFFICE}/styles" Target="styles.xml"/></Relationships>',
        "xl/styles.xml": _STYLES,
    }


def _put(book: zipfile.ZipFile, name: str, pieces: Iterator[str]) -> None:
    info = zipfile.ZipInfo(name)  # without a time: the same report gives the same bytes
    info.compress_type = zipfile.ZIP_DEFLATED
    with book.open(info, "w") as file:
        for piece in pieces:
            file.write(piece.encode("utf-8"))


def _sheet(columns: List[str], rows: List[List[Any]]) -> Iterator[str]:
    """The headings stay in sight."""
    yield (f'{_HEAD}<worksheet xmlns="{_MAIN}"><sheetViews><sheetView workbookViewId="0"><pane ySplit="1" '
           'topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews><sheetData>')
    yield from _rows(columns, rows)
    yield "</sheetData></worksheet>"


def write(path: Any, report: Dict[str, Any]) -> None:
    """Writes REPORT to PATH."""
    sheets = sheets_of(report)
    with zipfile.ZipFile(path, "w") as book:
        for name, text in _index(_names(sheets)).items():
            _put(book, name, iter((_HEAD, text)))
        for number, (_, columns, rows) in enumerate(sheets, 1):
            _put(book, f"xl/worksheets/sheet{number}.xml", _sheet(columns, rows))
