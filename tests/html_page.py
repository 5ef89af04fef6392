"""A page as its reader sees it, for tests of reports."""

from html.parser import HTMLParser


class Page(HTMLParser):
    """The elements of a page with their attributes and text; refuses tags that are not closed in order."""

    VOID = ("meta", "link", "img")

    def __init__(self, html):
        super().__init__()
        self.elements = []
        self._open = []
        self.feed(html)
        self.close()
        assert not self._open

    def handle_starttag(self, tag, attributes):
        element = {"tag": tag, "text": "", "inside": [outer["tag"] for outer in self._open], **dict(attributes)}
        self.elements.append(element)
        if tag not in self.VOID:
            self._open.append(element)

    def handle_endtag(self, tag):
        assert self._open.pop()["tag"] == tag

    def handle_data(self, data):
        for element in self._open:
            element["text"] += data

    def all(self, tag):
        return [element for element in self.elements if element["tag"] == tag]

    def section(self, name):
        (found,) = [element for element in self.all("section") if element["id"] == name]
        return " ".join(found["text"].split())
