// Counts over time, as the daemon measured them: null is a step in which nothing was measured. The page invents nothing there, so
// a chart has a gap, and a mean is one of the steps that were measured. The daemon itself gives each step its part when a reading
// took long.
import type { Series, SeriesName } from '../api/contract';

export type Values = (number | null)[];

const measured = (values: Values) => values.filter((value) => value !== null);

export function sumOf(values: Values = []): number {
  return measured(values).reduce((sum, value) => sum + value, 0);
}

// How many of these steps were measured.
export function stepsOf(values: Values = []): number {
  return measured(values).length;
}

// Without the steps at the end whose reading is still under way.
export function ended(series: Series): Series {
  const entries = Object.entries(series.series) as [SeriesName, Values][];
  const length = Math.max(0, ...entries.map(([, values]) => values.findLastIndex((value) => value !== null) + 1));
  return { ...series, series: Object.fromEntries(entries.map(([name, values]) => [name, values.slice(0, length)])) };
}

// Values that follow each other without a gap, each with the index of its first one.
export function runsOf(values: Values): { from: number; values: number[] }[] {
  const runs: { from: number; values: number[] }[] = [];
  values.forEach((value, i) => {
    if (value === null) return;
    const last = runs.at(-1);
    if (last && last.from + last.values.length === i) last.values.push(value);
    else runs.push({ from: i, values: [value] });
  });
  return runs;
}
