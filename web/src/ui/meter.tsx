// Small pictures without a library: a sparkline, and a bar of shares.

export function Sparkline({ values, label, tone = 'accent' }: { values: (number | null)[]; label: string; tone?: string }) {
  const width = 120;
  const height = 28;
  const known = values.map((value) => value ?? 0);
  const top = Math.max(...known, 1e-9);
  const at = (value: number, i: number) =>
    `${((i * width) / Math.max(1, known.length - 1)).toFixed(1)},${(height - 2 - (value / top) * (height - 4)).toFixed(1)}`;
  const line = known.map(at).join(' ');
  return (
    <svg
      className={`sparkline ${tone}`}
      viewBox={`0 0 ${width} ${height}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      {known.length > 1 && (
        <>
          <polygon points={`0,${height} ${line} ${width},${height}`} />
          <polyline points={line} />
        </>
      )}
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
