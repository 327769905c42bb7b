// The Prometheus text of GET /metrics, as far as the pages need it.

export interface Sample {
  name: string;
  labels: Record<string, string>;
  value: number;
}

const LINE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})?\s+(\S+)$/;
const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g;

function unescape(text: string): string {
  return text.replace(/\\(.)/g, (_, c: string) => (c === 'n' ? '\n' : c));
}

export function parseMetrics(text: string): Sample[] {
  const samples: Sample[] = [];
  for (const line of text.split('\n')) {
    if (!line || line.startsWith('#')) continue;
    const found = LINE.exec(line);
    if (!found) continue;
    const labels: Record<string, string> = {};
    for (const [, name, value] of (found[2] ?? '').matchAll(LABEL)) labels[name!] = unescape(value!);
    samples.push({ name: found[1]!, labels, value: Number(found[3] === '+Inf' ? Infinity : found[3]) });
  }
  return samples;
}

// A token for all namespaces gets the numbers of all of them: only those of the chosen one are kept. `chosen` is empty for
// the default one; if that has another name than "default", it is known only while there is no other.
export function ofNamespace(samples: Sample[], chosen: string): Sample[] {
  const names = new Set(samples.map((each) => each.labels.namespace).filter((name) => name !== undefined));
  const wanted = chosen || (names.size === 1 ? [...names][0] : 'default');
  return samples.filter(({ labels }) => labels.namespace === undefined || labels.namespace === wanted);
}

export function sum(samples: Sample[], name: string, where: Record<string, string> = {}): number {
  return samples
    .filter((each) => each.name === name && Object.entries(where).every(([label, value]) => each.labels[label] === value))
    .reduce((total, each) => total + each.value, 0);
}

export function labelValues(samples: Sample[], name: string, label: string): string[] {
  return [...new Set(samples.filter((each) => each.name === name).map((each) => each.labels[label] ?? ''))];
}

// The upper bound of the bucket that holds the quantile, interpolated as Prometheus does; undefined without samples.
export function quantile(samples: Sample[], name: string, where: Record<string, string>, q: number): number | undefined {
  const sums = new Map<number, number>();
  for (const each of samples) {
    if (each.name !== `${name}_bucket`) continue;
    if (!Object.entries(where).every(([label, value]) => each.labels[label] === value)) continue;
    const bound = each.labels.le === '+Inf' ? Infinity : Number(each.labels.le);
    sums.set(bound, (sums.get(bound) ?? 0) + each.value);
  }
  const buckets = [...sums].sort(([a], [b]) => a - b);
  const total = buckets.at(-1)?.[1] ?? 0;
  if (total === 0) return undefined;
  let lower = 0;
  let below = 0;
  for (const [bound, count] of buckets) {
    if (count >= q * total) {
      if (bound === Infinity) return lower;
      return count === below ? bound : lower + ((bound - lower) * (q * total - below)) / (count - below);
    }
    lower = bound;
    below = count;
  }
  return lower;
}
