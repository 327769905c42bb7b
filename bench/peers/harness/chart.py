"""Bar charts as SVG, written by hand: one bar per contestant with its median, and a line from the least to the most.

Readable on a light and on a dark page: the texts take their colour from the reader's scheme, and bars have colours that stand out
from both."""
import xml.sax.saxutils

from harness.numbers import short
from harness.results import ENGINE, OURS

WIDTH, LABELS, VALUES, BAR, GAP, TOP = 760, 200, 110, 22, 10, 44
STYLE = """<style>
  text { font: 13px system-ui, sans-serif; fill: #24292f }
  .title { font-weight: 600; font-size: 15px }
  .range { stroke: #24292f; stroke-width: 1.5 }
  .engine { fill: #2f81f7 } .own { fill: #8fa8c8 } .peer { fill: #9a8c7c }
  @media (prefers-color-scheme: dark) { text { fill: #e6edf3 } .range { stroke: #e6edf3 } }
</style>"""


def kind(name):
    return "engine" if name == ENGINE else "own" if name in OURS else "peer"


def bar(index, name, found, most, unit):
    top = TOP + index * (BAR + GAP)
    middle = top + BAR / 2
    scale = (WIDTH - LABELS - VALUES) / most
    at = lambda value: round(LABELS + value * scale, 1)  # noqa: E731
    label = xml.sax.saxutils.escape(name)
    return "\n".join([
        f'<text x="{LABELS - 10}" y="{middle + 4:g}" text-anchor="end">{label}</text>',
        f'<rect class="{kind(name)}" x="{LABELS}" y="{top}" width="{max(1, at(found.median) - LABELS):g}" height="{BAR}" rx="2"/>',
        f'<line class="range" x1="{at(found.least)}" x2="{at(found.most)}" y1="{middle:g}" y2="{middle:g}"/>',
        f'<text x="{at(found.most) + 8:g}" y="{middle + 4:g}">{short(found.median)}{unit}</text>'])


def chart(title, bars, unit):
    """`bars`: pairs of a name and its Range. An empty chart would say nothing, so that there must be one."""
    most = max(found.most for _, found in bars) or 1
    height = TOP + len(bars) * (BAR + GAP) + 6
    rows = [bar(index, name, found, most, unit) for index, (name, found) in enumerate(bars)]
    escaped = xml.sax.saxutils.escape(title)
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" role="img">',
        f"<title>{escaped}</title>", STYLE, f'<text class="title" x="10" y="24">{escaped}</text>', *rows, "</svg>"]) + "\n"
