"""The report as Markdown."""
from harness.numbers import show
from harness.peers import DELAYS, RATES
from harness.results import ENGINE, LEASED, LIMIT, QUANTILES, STORE_ALONE

TITLES = {"enqueue": "bulk enqueue", "drain": "drain", "cycle": "fail once, then succeed",
          "latency-own": "submit to start, own process", "latency-other": "submit to start, another process",
          "lateness": "lateness of tasks that were waiting"}
STORES = {"postgres": "PostgreSQL", "mariadb": "MariaDB", "redis": "Redis", "sqlite": "SQLite"}


def markdown_table(heads, rows):
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def own_table(results, works):
    """EasyRetry beside its store alone and the server's limit."""
    rows = []
    for work in works:
        engine = results.of(ENGINE, work)
        limits = [LIMIT, *([LEASED] if results.of(LEASED, work) else [])]
        rows += [[TITLES[work] + ("" if limit == LIMIT else ", one claim per batch"), show(engine, " /s"),
                  show(results.of(STORE_ALONE, work), " /s"), show(results.ratio(work, STORE_ALONE)),
                  show(results.of(limit, work), " /s"), show(results.ratio(work, limit))] for limit in limits]
    return markdown_table(["", "EasyRetry", "store alone", "engine / store alone", "limit", "engine / limit"], rows)


def peers_table(results, work, peers):
    rows = [[ENGINE, show(results.of(ENGINE, work), " /s"), ""]]
    rows += [[name, show(results.of(name, work), " /s"), show(results.ratio(work, name), " ×")] for name in peers]
    return markdown_table([TITLES[work], "tasks per second", "EasyRetry / theirs"], rows)


def delays_table(results, work, peers):
    rows = []
    for name in (ENGINE, *peers):
        ratios = [show(results.ratio(work, name, "p50")) if name != ENGINE else ""]
        rows.append([name, *(show(results.of(name, work, quantile), " ms") for quantile in QUANTILES), *ratios])
    return markdown_table([TITLES[work], "p50", "p99", "EasyRetry's p50 / theirs"], rows)


def facts(options, results, server, durability):
    yield f"# EasyRetry beside others on {STORES[options.store]}"
    yield (f"{server}, {durability}. {options.tasks:,} tasks, slow peers fewer; EasyRetry with `history={options.history}`. "
           f"Rounds in turns: {options.rounds}. Figures are medians (least–most); ratios are medians of the rounds' ratios.")
    yield "Versions: " + "; ".join(f"{name} {version}" for name, version in results.versions.items()) + "."


def problems(results):
    lines = [f"- left out: {name}, {why}" for name, why in results.left_out.items()]
    return "\n".join(lines + [f"- failed: {text}" for text in results.failed])


def report(options, results, server, durability, charts):
    """The whole text. `charts` maps a work to the file name of its chart."""
    parts = list(facts(options, results, server, durability))
    rates = [work for work in RATES if work in options.works]
    if rates:
        parts.append(own_table(results, rates))
    for work in [work for work in (*RATES, *DELAYS) if work in options.works]:
        peers = [name for name in results.names(work) if name in results.versions and name != ENGINE]
        if peers:
            table = peers_table if work in RATES else delays_table
            parts.append(table(results, work, peers))
        if work in charts:
            parts.append(f"![{TITLES[work]}]({charts[work]})")
    if not results.complete():
        parts.append(problems(results))
    return "\n\n".join(parts) + "\n"
