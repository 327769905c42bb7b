// Lines over time. uPlot draws on a canvas; the legend below it is text, and shows the values under the cursor.
import { useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { isDark, usePrefs, zoneName } from '../lib/prefs';
import { clockTime } from '../lib/time';

export interface Line {
  label: string;
  color: string; // a custom property: --chart-1
  values: (number | null)[];
  fill?: boolean;
}

interface ChartProps {
  label: string;
  from: number; // ms
  stepMs: number;
  lines: Line[];
  format: (value: number) => string;
  steps?: number[]; // of the axis: round values, where those of ten are not
}

const HEIGHT = 148; // at a root size of 14 px

const scale = () => parseFloat(getComputedStyle(document.documentElement).fontSize) / 14;

const color = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// Seconds are shown only where ticks are closer than a minute.
function timeLabel(seconds: number, ticks: number[], zone: string): string {
  const close = ticks.length > 1 && ticks[1]! - ticks[0]! < 60;
  return clockTime(seconds * 1000, zone).slice(0, close ? 8 : 5);
}

// A value between two steps without one would not be seen as a line.
function lonePoints(plot: uPlot, series: number): number[] {
  const values = plot.data[series]!;
  return [...values.keys()].filter((i) => values[i] != null && values[i - 1] == null && values[i + 1] == null);
}

function widest(plot: uPlot, labels: string[], font: string): number {
  plot.ctx.save();
  plot.ctx.font = font;
  const width = Math.max(0, ...labels.map((label) => plot.ctx.measureText(label).width));
  plot.ctx.restore();
  return width;
}

function options(props: ChartProps, width: number, zone: string, onCursor: (at: number | null) => void): uPlot.Options {
  const axis = { stroke: color('--text-3'), font: `${Math.round(11 * scale())}px system-ui, sans-serif`, ticks: { show: false } };
  const grid = { stroke: color('--line'), width: 1 };
  return {
    width,
    height: HEIGHT * scale(),
    legend: { show: false },
    padding: [8, 16, 0, 0],
    cursor: { sync: { key: 'easyretry' }, y: false, points: { size: 6 }, drag: { x: false, y: false } },
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), zone),
    scales: { x: { time: true }, y: { range: (_, __, max) => [0, Math.max(max * 1.12, 1)] } },
    axes: [
      {
        ...axis,
        grid: { show: false },
        size: 24 * scale(),
        space: 70 * scale(),
        values: (_, ticks) => ticks.map((tick) => timeLabel(tick, ticks, zone)),
      },
      {
        ...axis,
        grid,
        size: (plot, labels) => Math.max(48 * scale(), widest(plot, labels ?? [], axis.font) + 12),
        space: 36 * scale(),
        values: (_, ticks) => ticks.map((tick) => props.format(tick)),
        ...(props.steps && { incrs: props.steps }),
      },
    ],
    series: [
      {},
      ...props.lines.map((line) => ({
        label: line.label,
        stroke: color(line.color),
        width: 1.5,
        points: { show: true, size: 4, filter: lonePoints },
        ...(line.fill && { fill: `${color(line.color)}1f` }),
      })),
    ],
    hooks: { setCursor: [(plot) => onCursor(plot.cursor.idx ?? null)] },
  };
}

function dataOf({ from, stepMs, lines }: ChartProps): uPlot.AlignedData {
  const length = Math.max(...lines.map((line) => line.values.length));
  const times = Array.from({ length }, (_, i) => (from + i * stepMs) / 1000);
  return [times, ...lines.map((line) => line.values)] as uPlot.AlignedData;
}

export default function Chart(props: ChartProps) {
  const { t } = useTranslation();
  const { zone } = usePrefs();
  const dark = isDark();
  const [at, setAt] = useState<number | null>(null);
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(null);
  const latest = useRef(props);
  latest.current = props;

  const shape = props.lines.map((line) => line.label).join('|');
  useEffect(() => {
    const element = box.current!;
    const made = new uPlot(options(latest.current, element.clientWidth, zoneName(zone), setAt), dataOf(latest.current), element);
    plot.current = made;
    const observer = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height: HEIGHT * scale() }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      made.destroy();
      plot.current = null;
    };
  }, [dark, zone, shape]);

  useEffect(() => plot.current?.setData(dataOf(props)), [props]);

  const shown = at ?? Math.max(...props.lines.map((line) => line.values.length)) - 1;
  return (
    <figure className="chart">
      <div ref={box} role="img" aria-label={props.label} />
      <figcaption>
        {props.lines.map((line) => (
          <span key={line.label} className="legend">
            <span className="swatch" style={{ background: `var(${line.color})` }} aria-hidden />
            {line.label}
            <b>{line.values[shown] == null ? '–' : props.format(line.values[shown]!)}</b>
          </span>
        ))}
        <span className="legend when">
          {at === null ? t('chart.latest') : clockTime(props.from + at * props.stepMs, zoneName(zone))}
        </span>
      </figcaption>
    </figure>
  );
}
