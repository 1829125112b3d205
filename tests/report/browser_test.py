"""Opens the report of a run in a headless Chromium, at a phone's width and at a desk's, clicks every button, and prints it.

browser_test.py HLOCTL RUN. Without a Chromium the page's structure alone is tested.
"""

import html
import html.parser
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

CLICKS = """<script>
const errors = [];
window.addEventListener("error", (event) => errors.push(event.message));
</script>"""
AFTER = """<script>
const before = document.querySelectorAll("tbody tr").length;
for (const section of document.querySelectorAll("section")) {
  const headings = section.querySelectorAll("th button").length;
  for (let i = 0; i < headings; ++i) for (let twice = 0; twice < 2; ++twice) section.querySelectorAll("th button")[i].click();
}
for (const link of document.querySelectorAll("nav a")) link.click();
const found = {errors, rows: document.querySelectorAll("tbody tr").length, before,
  sorted: document.querySelectorAll("th[aria-sort=ascending], th[aria-sort=descending]").length,
  charts: document.querySelectorAll("svg").length, wide: document.documentElement.scrollWidth - window.innerWidth,
  width: window.innerWidth, title: document.title, text: document.body.innerText};
document.body.innerHTML = "<pre id=found></pre>";
document.getElementById("found").textContent = "FOUND" + JSON.stringify(found) + "DNUOF";
</script>"""


class Structure(html.parser.HTMLParser):
    """The page's elements, the report in it, and whatever would be fetched."""

    def __init__(self):
        super().__init__()
        self.open, self.sections, self.outside, self.report, self.inside = [], [], [], "", False

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag not in ("meta", "link", "br", "img"):
            self.open.append(tag)
        if tag == "section":
            self.sections.append(attributes["id"])
        self.outside += [v for k, v in attributes.items() if k in ("src", "href") and not v.startswith("#")]
        self.inside = attributes.get("id") == "report"

    def handle_endtag(self, tag):
        assert self.open and self.open.pop() == tag, tag
        self.inside = False

    def handle_data(self, data):
        if self.inside:
            self.report += data


def check_structure(page, report):
    structure = Structure()
    structure.feed(page)
    assert structure.open == [], structure.open
    assert structure.sections == ["memory", "transfers", "graphs", "compiles", "roofline"], structure.sections
    assert structure.outside == [], structure.outside
    assert json.loads(structure.report) == report


def browser():
    for name in ("chromium-headless-shell", "chromium"):
        if path := shutil.which(name):
            return [path, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--virtual-time-budget=5000"]
    return None


def check_in_browser(command, folder, page, width):
    path = os.path.join(folder, "clicked.html")
    with open(path, "w", encoding="utf-8") as file:
        file.write(page.replace("<head>", "<head>" + CLICKS).replace("</body>", AFTER + "</body>"))
    dom = subprocess.run(command + [f"--user-data-dir={folder}/profile", f"--window-size={width},900", "--dump-dom", "file://" + path],
                         capture_output=True, text=True, check=True).stdout
    found = json.loads(html.unescape(re.search("FOUND(.*)DNUOF", dom, re.S)[1]))
    assert found["errors"] == [], found["errors"]
    assert found["rows"] == found["before"] > 5, found
    assert found["charts"] >= 3, found["charts"]
    assert found["sorted"] >= 4, found["sorted"]
    assert found["wide"] <= 0, f"{found['wide']} pixels too wide for {found['width']}"
    for words in ("example", "example.cc:12", "the program read one element", "2.00 KiB"):
        assert words in found["text"], (words, found["text"])


def main(hloctl, run):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "report.html")
        printed = subprocess.run([hloctl, "--json", "report", run, "-o", path, "--trace", path + ".json"],
                                 check=True, capture_output=True, text=True).stdout
        with open(path, encoding="utf-8") as file:
            page = file.read()
        check_structure(page, json.loads(printed))
        with open(path + ".json", encoding="utf-8") as file:
            assert json.load(file)["traceEvents"]
        command = browser()
        if command is None:
            print("no Chromium here: the page was parsed, and not opened")
            return
        for width in (390, 1280):
            check_in_browser(command, folder, page, width)
        paper = os.path.join(folder, "report.pdf")
        subprocess.run(command + [f"--user-data-dir={folder}/profile", "--print-to-pdf=" + paper, "file://" + path],
                       check=True, capture_output=True)
        assert os.path.getsize(paper) > 10_000
        print("opened, clicked and printed")


if __name__ == "__main__":
    main(*sys.argv[1:])
