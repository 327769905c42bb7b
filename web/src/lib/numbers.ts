// Counts as people read them: 1,204 in full, 12.3k and 4.1M where space is short.

export function full(value: number, language: string): string {
  return new Intl.NumberFormat(language).format(value);
}

export function short(value: number): string {
  return new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 }).format(value);
}

export function rate(perSecond: number): string {
  if (perSecond === 0) return '0';
  return perSecond < 10 ? perSecond.toFixed(perSecond < 1 ? 2 : 1) : short(perSecond);
}

export function percent(part: number, whole: number): string {
  if (whole === 0) return '–';
  const share = (100 * part) / whole;
  // 99.97 % must not be shown as 100 %.
  if (share > 99 && share < 100) return `${(Math.floor(share * 100) / 100).toFixed(2)} %`;
  return `${share < 10 ? Number(share.toFixed(1)) : Math.round(share)} %`;
}

export function bytes(value: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let at = 0;
  while (value >= 1000 && at < units.length - 1) {
    value /= 1000;
    at++;
  }
  return `${at === 0 ? value : value.toFixed(value < 10 ? 1 : 0)} ${units[at]}`;
}
