"""Opens the report of a run in a headless Chromium, from a phone's width to a wide window's, light and dark: clicks every button, hovers
over and zooms the timeline, looks at what was drawn, and prints it.

browser_test.py HLOCTL RUN. Without a Chromium the page's structure alone is tested.
"""

import html
import html.parser
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib

CLICKS = """<script>
const errors = [];
window.addEventListener("error", (event) => errors.push(event.message));
</script>"""
AFTER = """<script>{  // Names of its own, beside the page's.
const before = document.querySelectorAll("tbody tr").length;
for (const section of document.querySelectorAll("section")) {
  const headings = section.querySelectorAll("th button").length;
  for (let i = 0; i < headings; ++i) for (let twice = 0; twice < 2; ++twice) section.querySelectorAll("th button")[i].click();
}
for (const link of document.querySelectorAll("nav a")) link.click();
// The timeline: what a pointer over its lanes says, and what is on the canvas before and after zooming.
const canvas = document.querySelector("#timeline canvas"), tip = document.querySelector("#tip"), tips = [];
canvas.scrollIntoView();
const box = canvas.getBoundingClientRect();
for (let y = 4; y < box.height; y += 8) for (let x = 72; x < box.width; x += 4) {
  canvas.dispatchEvent(new PointerEvent("pointermove", {clientX: box.left + x, clientY: box.top + y, bubbles: true}));
  if (tip.style.display === "block" && !tips.includes(tip.textContent)) tips.push(tip.textContent);
}
const drawn = canvas.toDataURL();
document.querySelector("#timeline [data-do=in]").click();
const zoomed = canvas.toDataURL() !== drawn;
document.querySelector("#timeline [data-do=all]").click();
const whole = canvas.toDataURL() === drawn;
const cut = [...document.querySelectorAll(".scroll, svg, canvas")].filter((e) => e.scrollWidth > e.clientWidth + 1 || e.getBoundingClientRect().right > window.innerWidth + 1).length;
const found = {errors, rows: document.querySelectorAll("tbody tr").length, before,
  sorted: document.querySelectorAll("th[aria-sort=ascending], th[aria-sort=descending]").length,
  charts: document.querySelectorAll("svg").length, tips, zoomed, whole, cut, first: document.querySelector("#first").innerText, wide: document.documentElement.scrollWidth - window.innerWidth,
  width: window.innerWidth, title: document.title, text: document.body.innerText};
document.body.innerHTML = "<pre id=found></pre>";
document.getElementById("found").textContent = "FOUND" + JSON.stringify(found) + "DNUOF";
}</script>"""


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
    assert structure.sections == ["first", "timeline", "memory", "transfers", "graphs", "compiles", "slow", "roofline"], structure.sections
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
    assert found["cut"] == 0, f"{found['cut']} tables or charts are cut at {found['width']} pixels"
    assert found["zoomed"] and found["whole"], found
    for words in ("device: trace_example.cc:12", "tracing: item", "waiting: read", "example.cc:12"):
        assert any(words in tip for tip in found["tips"]), (words, found["tips"])
    for words in ("graph break at example.cc:12", "Its removal saves", "Keep it a tensor"):
        assert words in found["first"], (words, found["first"])
    for words in ("example", "example.cc:12", "the program read one element", "2.00 KiB"):
        assert words in found["text"], (words, found["text"])


def pixels(path):
    """The rows of an 8-bit RGB or RGBA PNG, and how many bytes a pixel has."""
    with open(path, "rb") as file:
        data = file.read()
    at, packed, head = 8, b"", None
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        if kind == b"IHDR":
            head = struct.unpack(">IIBBBBB", data[at + 8:at + 8 + size])
        if kind == b"IDAT":
            packed += data[at + 8:at + 8 + size]
        at += size + 12
    width, height, depth, colour = head[:4]
    assert depth == 8 and colour in (2, 6), head
    step = 3 if colour == 2 else 4
    raw, rows, before = zlib.decompress(packed), [], bytes(width * step)
    for y in range(height):
        kind, *line = raw[y * (width * step + 1):(y + 1) * (width * step + 1)]
        for i, value in enumerate(line):
            left, up, corner = (line[i - step] if i >= step else 0), before[i], (before[i - step] if i >= step else 0)
            nearest = min((abs(up - corner), 0, left), (abs(left - corner), 1, up), (abs(left + up - 2 * corner), 2, corner))[2]
            line[i] = (value + (0, left, up, (left + up) // 2, nearest)[kind]) & 255
        rows.append(line)
        before = line
    return rows, step


def check_screenshot(command, folder, page, theme):
    """Most of the page is paper, and the paper is what the theme says; the timeline has colours."""
    path, shot = os.path.join(folder, theme + ".html"), os.path.join(folder, theme + ".png")
    with open(path, "w", encoding="utf-8") as file:
        file.write(page.replace('<html lang="en">', f'<html lang="en" data-theme="{theme}">'))
    subprocess.run(command + [f"--user-data-dir={folder}/profile", "--window-size=800,900", "--screenshot=" + shot, "file://" + path],
                   check=True, capture_output=True)
    rows, step = pixels(shot)
    brightness = sorted(sum(row[i:i + 3]) / 3 for row in rows[::8] for i in range(0, len(row), 8 * step))
    paper = brightness[len(brightness) // 2]
    assert paper > 200 if theme == "light" else paper < 60, (theme, paper)
    coloured = sum(max(row[i:i + 3]) - min(row[i:i + 3]) > 60 for row in rows[::2] for i in range(0, len(row), 2 * step))
    assert coloured > 200, (theme, coloured)


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
        for width in (390, 800, 1400, 1920):
            check_in_browser(command, folder, page, width)
        for theme in ("light", "dark"):
            check_screenshot(command, folder, page, theme)
        paper = os.path.join(folder, "report.pdf")
        subprocess.run(command + [f"--user-data-dir={folder}/profile", "--print-to-pdf=" + paper, "file://" + path],
                       check=True, capture_output=True)
        assert os.path.getsize(paper) > 10_000
        print("opened, clicked and printed")


if __name__ == "__main__":
    main(*sys.argv[1:])
