// Small pictures without a library: a sparkline, and a bar of shares.
import { runsOf, type Values } from '../lib/series';

export function Sparkline({ values, label, tone = 'accent' }: { values: Values; label: string; tone?: string }) {
  const width = 120;
  const height = 28;
  const runs = runsOf(values);
  const top = Math.max(...runs.flatMap((run) => run.values), 1e-9);
  const x = (i: number) => ((i * width) / Math.max(1, values.length - 1)).toFixed(1);
  const y = (value: number) => (height - 2 - (value / top) * (height - 4)).toFixed(1);
  return (
    <svg
      className={`sparkline ${tone}`}
      viewBox={`0 0 ${width} ${height}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      {runs.map((run) => {
        const first = x(run.from);
        const last = x(run.from + Math.max(run.values.length - 1, 0.5)); // a single value is a short line
        const line = run.values.map((value, i) => `${x(run.from + i)},${y(value)}`).join(' ');
        return (
          <g key={run.from}>
            <polygon points={`${first},${height} ${line} ${last},${height}`} />
            <polyline points={run.values.length > 1 ? line : `${line} ${last},${y(run.values[0]!)}`} />
          </g>
        );
      })}
    </svg>
  );
}

export interface Share {
  name: string;
  value: number;
  tone: string;
}

export function ShareBar({ shares, label }: { shares: Share[]; label: string }) {
  const total = shares.reduce((sum, each) => sum + each.value, 0);
  return (
    <div className="share-bar" role="img" aria-label={label} title={label}>
      {total > 0 &&
        shares
          .filter((each) => each.value > 0)
          .map((each) => <span key={each.name} className={each.tone} style={{ flexGrow: each.value / total }} />)}
    </div>
  );
}

export function Progress({ value, of, label }: { value: number; of: number; label: string }) {
  return <progress className="progress" value={of > 0 ? value : 0} max={Math.max(1, of)} aria-label={label} />;
}
