// What the drivers of the Node peers and their worker processes share.

/** Milliseconds with digits after the point, comparable between processes. */
export const wall = () => performance.timeOrigin + performance.now();
export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

export const POSTGRES = process.env.STORE_URL;
export const REDIS = process.env.STORE_URL?.startsWith('redis:')
  ? { host: new URL(process.env.STORE_URL).hostname, port: +new URL(process.env.STORE_URL).port }
  : null;
export const SQLITE_FILE = process.env.STORE_URL?.replace(/^sqlite:/, '');

/** WORK key=value… as {work, key: value}, numbers as numbers. */
export function readSettings([work, ...pairs], defaults) {
  const settings = { work, tasks: 1000, rate: 200, over: 20, callers: 1, batch: 1000, processes: 1, ahead: 0.5, ...defaults };
  for (const pair of pairs) {
    const [key, value] = pair.split('=');
    settings[key] = value === '' || Number.isNaN(+value) ? value : +value;
  }
  return settings;
}

export function spread(values) {
  const sorted = Float64Array.from(values).sort();
  const at = (part) => +sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))].toFixed(3);
  return { p50: at(0.5), p99: at(0.99), max: at(1) };
}

/** Counts what has run, and how late it started. Passed to a peer's work(). */
export class Tally {
  count = 0;
  failures = 0;
  late = [];

  /** For works that measure a delay: `from` is when the task was sent or due. */
  started(from) {
    if (from !== undefined) this.late.push(wall() - from);
  }
  failed() {
    this.failures++;
  }
  ended() {
    this.count++;
  }
}
