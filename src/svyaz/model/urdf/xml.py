"""XML texts as elements with their places. Entities are refused, so nothing in a text can grow or reach outside it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.parsers import expat

from svyaz.expr import ModelError, Problem
from svyaz.model.reading.places import MAX_SIZE, Places, places_of

MAX_DEPTH = 100
"""The deepest nesting of elements."""


@dataclass
class Element:
    """A tag with its attributes and what is inside it; ``offset`` is the place of its ``<`` in the text."""

    name: str
    attributes: dict[str, str]
    offset: int
    children: list[Element] = field(default_factory=list)

    def all(self, name: str) -> Iterator[Element]:
        """The elements of this name directly inside."""
        return (child for child in self.children if child.name == name)

    def first(self, name: str) -> Element | None:
        """The first element of this name directly inside."""
        return next(self.all(name), None)


@dataclass(frozen=True)
class Document:
    """The outermost element, and the text, to find places in it."""

    root: Element
    text: str
    places: Places

    def attribute(self, element: Element, name: str) -> int:
        """Where the value of an attribute stands; the element, when it has no such attribute."""
        if name not in element.attributes:
            return element.offset
        found = re.compile(rf"\s{re.escape(name)}\s*=\s*[\"']").search(self.text, element.offset)
        return element.offset if found is None else found.end()

    def problem(self, message: str, element: Element, attribute: str = "", hint: str | None = None) -> Problem:
        """A mistake at an element or one of its attributes."""
        return Problem(message, self.places.at(self.attribute(element, attribute)), hint)


def read_xml(text: str, file: str | None) -> Document:
    """The elements of a text; a mistake in the XML is a ModelError at its line and column."""
    text = text.replace("\r\n", "\n")
    places = places_of(text, file)
    if len(text) > MAX_SIZE:
        message = f"the file is too large for a model: {len(text)} characters, at most {MAX_SIZE} are allowed"
        raise ModelError([Problem(message, places.at(0))])
    root = Element("", {}, 0)
    open_elements = [root]
    parser = expat.ParserCreate("utf-8")
    parser.buffer_text = True
    blank = len(text) - len(text.lstrip())  # a declaration must stand first, and editors leave empty lines before it
    raw = text[blank:].encode(errors="replace")
    passed = (0, blank)

    def offset() -> int:
        """Where the parser is, which counts in bytes of UTF-8 and only goes on."""
        nonlocal passed
        at, characters = passed
        here = max(parser.CurrentByteIndex, at)
        passed = here, characters + len(raw[at:here].decode(errors="ignore"))
        return passed[1]

    def open_element(name: str, attributes: dict[str, str]) -> None:
        element = Element(name, attributes, offset())
        open_elements[-1].children.append(element)
        open_elements.append(element)
        if len(open_elements) > MAX_DEPTH:
            message = f"elements are nested too deeply: more than {MAX_DEPTH} levels"
            raise ModelError([Problem(message, places.at(element.offset))])

    def closed(name: str) -> None:
        open_elements.pop()

    def refuse_declaration(*_: object) -> None:
        raise ModelError([Problem("an entity is declared here; entities are refused", places.at(offset()))])

    parser.StartElementHandler = open_element
    parser.EndElementHandler = closed
    parser.EntityDeclHandler = refuse_declaration
    try:
        parser.Parse(raw, True)
    except expat.ExpatError as error:
        at = blank + len(raw[: parser.ErrorByteIndex].decode(errors="ignore"))
        reason = expat.ErrorString(error.code)
        raise ModelError([Problem(f"this is not XML: {reason}", places.at(at))]) from None
    return Document(root.children[0], text, places)
