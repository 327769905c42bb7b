"""Writes the report: report-STORE.md, a chart for each work, and the figures of each round as JSON."""
import json

from harness.chart import chart
from harness.peers import RATES
from harness.table import STORES, TITLES, report


def bars_of(results, work):
    quantile = None if work in RATES else "p99"
    found = [(name, results.of(name, work, quantile)) for name in results.names(work)]
    return [(name, value) for name, value in found if value]


def write_charts(folder, options, results):
    charts = {}
    for work in options.works:
        if bars := bars_of(results, work):
            rates = work in RATES
            charts[work] = f"{options.store}-{work}.svg"
            title = f"{STORES[options.store]}: {TITLES[work]}" + (", tasks per second" if rates else ", p99; shorter is better")
            (folder / charts[work]).write_text(chart(title, bars, "" if rates else " ms"))
    return charts


def write_figures(folder, options, results):
    rows = [{"name": name, "work": work, "quantile": quantile, "rounds": values}
            for (name, work, quantile), values in results.values.items()]
    figures = {"store": options.store, "tasks": options.tasks, "versions": results.versions, "left_out": results.left_out,
               "failed": results.failed, "figures": rows}
    (folder / f"figures-{options.store}.json").write_text(json.dumps(figures, indent=1) + "\n")


def write_report(options, results, server, durability):
    """The path of the Markdown file."""
    folder = options.report
    folder.mkdir(parents=True, exist_ok=True)
    write_figures(folder, options, results)
    charts = write_charts(folder, options, results)
    page = folder / f"report-{options.store}.md"
    page.write_text(report(options, results, server, durability, charts))
    return page
