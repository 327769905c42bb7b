// Times as people read them. The browser's clock may be wrong, so "now" is the store's: every response of the API has
// it in its header easyretry-time.

let ahead = 0; // the store's clock minus the browser's, in ms

export function hearServerTime(text: string | null): void {
  const time = text ? Date.parse(text) : NaN;
  if (!Number.isNaN(time)) ahead = time - Date.now();
}

export function now(): number {
  return Date.now() + ahead;
}

// Difference of the clocks worth a word to the reader; 0 if it is below a minute.
export function clockError(): number {
  return Math.abs(ahead) < 60_000 ? 0 : ahead;
}

export type Moment = string | number;

export function toMs(moment: Moment): number {
  return typeof moment === 'number' ? moment : Date.parse(moment);
}

const STEPS: [Intl.RelativeTimeFormatUnit, number][] = [
  ['year', 365 * 86_400_000],
  ['month', 30 * 86_400_000],
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1_000],
];

// "3 min. ago", "in 2 hr."; rounded down, so that an hour is not said before it is over.
export function relative(moment: Moment, language: string, at: number = now()): string {
  const difference = toMs(moment) - at;
  const format = new Intl.RelativeTimeFormat(language, { numeric: 'auto', style: 'short' });
  for (const [unit, size] of STEPS) {
    if (Math.abs(difference) >= size) return format.format(Math.trunc(difference / size), unit);
  }
  return format.format(0, 'second');
}

export function absolute(moment: Moment, language: string, zone: string): string {
  const time = new Date(toMs(moment));
  if (Number.isNaN(time.getTime())) return String(moment);
  return new Intl.DateTimeFormat(language, {
    dateStyle: 'medium',
    timeStyle: 'long',
    timeZone: zone,
    hourCycle: 'h23',
  }).format(time);
}

// The time of a day, to the millisecond where asked for: 14:39:47.221.
export function clockTime(moment: Moment, zone: string, millis = false): string {
  return new Intl.DateTimeFormat('en-GB', {
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    fractionalSecondDigits: millis ? 3 : undefined,
    timeZone: zone,
    hourCycle: 'h23',
  }).format(new Date(toMs(moment)));
}

const UNITS: [string, number][] = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
];

// "1 d 4 h", "3 min 20 s", "45 s", "120 ms": the two largest units.
export function duration(ms: number): string {
  if (!Number.isFinite(ms)) return '–';
  if (ms < 1_000) return `${ms > 0 && ms < 10 ? Number(ms.toFixed(1)) : Math.round(ms)} ms`;
  if (ms < 10_000 && ms % 1_000 >= 50) return `${(Math.floor(ms / 100) / 10).toString()} s`;
  const first = UNITS.findIndex(([, size]) => ms >= size);
  const [name, size] = UNITS[first]!;
  const whole = Math.floor(ms / size);
  const next = UNITS[first + 1];
  const rest = next ? Math.floor((ms - whole * size) / next[1]) : 0;
  return rest > 0 ? `${whole} ${name} ${rest} ${next![0]}` : `${whole} ${name}`;
}

// The value of an <input type="datetime-local"> in `zone` as the API wants it, and back.
export function toApiTime(local: string, zone: string): string {
  if (!local) return '';
  const asUtc = Date.parse(`${local}${local.length === 16 ? ':00' : ''}Z`);
  return Number.isNaN(asUtc) ? '' : new Date(asUtc - zoneOffset(asUtc, zone)).toISOString();
}

export function toLocalInput(time: string, zone: string): string {
  const utc = Date.parse(time);
  return Number.isNaN(utc) ? '' : new Date(utc + zoneOffset(utc, zone)).toISOString().slice(0, 19);
}

function zoneOffset(utc: number, zone: string): number {
  const parts = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  }).formatToParts(new Date(utc));
  const part = (type: string) => Number(parts.find((each) => each.type === type)?.value);
  const there = Date.UTC(part('year'), part('month') - 1, part('day'), part('hour'), part('minute'), part('second'));
  return there - Math.floor(utc / 1000) * 1000;
}
