// A daemon that is busy reads its counts less often, and leaves out steps: null. The next value then covers them, too, since it
// is the growth since the reading before.
import type { Series, SeriesName } from '../api/contract';

type Values = (number | null)[];

const COUNTS: SeriesName[] = ['stored', 'succeeded', 'failed_attempts', 'ended_badly'];

// Each step with the index of the step whose reading covers it; undefined before the first reading.
function readings(measured: boolean[]): { at: number; steps: number }[] {
  const covered: { at: number; steps: number }[] = [];
  let from = measured.indexOf(true);
  for (let i = 0; i < measured.length; i++) {
    if (!measured[i] || i < from) continue;
    for (let step = from; step <= i; step++) covered[step] = { at: i, steps: i - from + 1 };
    from = i + 1;
  }
  return covered;
}

// Counts are spread over the steps that they cover, other values repeated. Steps after the last reading are left out.
export function filled(series: Series): Series {
  const backlog = series.series.backlog ?? [];
  const measured = backlog.map((value) => value !== null);
  const covered = readings(measured);
  const last = measured.lastIndexOf(true);
  const fill = (name: SeriesName, values: Values): Values =>
    values.slice(0, last + 1).map((_, i) => {
      const reading = covered[i];
      const value = reading && values[reading.at];
      if (value == null) return null;
      return COUNTS.includes(name) ? value / reading!.steps : value;
    });
  const entries = Object.entries(series.series) as [SeriesName, Values][];
  return { ...series, series: Object.fromEntries(entries.map(([name, values]) => [name, fill(name, values)])) };
}
