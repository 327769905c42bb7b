// Names for the shapes of the API. Those of the first half come from the OpenAPI document.
import type { components } from './schema';

export type Task = components['schemas']['Task'] & { waits_for?: WaitsFor; last_attempts?: KeptAttempt[] };
export type Handler = components['schemas']['Handler'];
export type Limit = components['schemas']['Limit'];
export type Circuit = components['schemas']['Circuit'];
export type Cluster = components['schemas']['Cluster'];
export type BulkJob = components['schemas']['BulkJob'] & { per_second?: number; complete?: boolean };
export type BulkForeseen = components['schemas']['BulkForeseen'] & { complete?: boolean };
export type BulkRequest = components['schemas']['BulkRequest'] & { per_second?: number };
export type TaskEvent = components['schemas']['Event'];
export type Table = components['schemas']['Table'];
export type Alerts = components['schemas']['Alerts'];
export type AuditLog = components['schemas']['AuditLog'];
export type TokenInfo = components['schemas']['Tokens']['tokens'][number];
export type Moment = string | number;

// One of the latest attempts of a task. A crashed one is made again under the same number.
export interface KeptAttempt {
  number: number;
  end: 'succeeded' | 'failed' | 'crashed' | 'lost';
  by?: string | undefined;
  began_at?: string | undefined;
  ended_at: string;
  took_ms?: number | undefined;
  error?: string | undefined; // its beginning; the task has the whole text of the last one
}

// Why a task waits.
export interface WaitsFor {
  kind: string;
  text: string;
  since?: string | undefined;
  until?: string | undefined;
  by?: string | undefined;
  why?: string | undefined;
}

// A session, and the token behind it.
export interface Me {
  name: string;
  role: string;
  rights: string[];
  namespaces: string[] | '*';
  version?: string;
  store?: string;
  durability?: string;
  features?: unknown;
}

export interface Session extends Me {
  csrf: string;
  expires_at: Moment;
}

export interface ErrorGroup {
  fingerprint: string;
  text: string;
  count: number;
  first_seen: Moment;
  last_seen: Moment;
  handlers: string[];
  by_hour: number[]; // of the last day; the last is the hour until now
  ids: string[];
}

export interface ErrorGroups {
  groups: ErrorGroup[];
  scanned: number;
  complete: boolean;
}

export interface DoctorCheck {
  check: string;
  result: 'ok' | 'warn' | 'fail';
  what: string;
  todo: string;
  code?: string; // which sentence `what` is; an older daemon does not say it
  values?: Record<string, string>; // what is filled in there
  items?: Record<string, string>[]; // the handlers, circuits or limits in it
}

export interface Doctor {
  healthy: boolean;
  checks: DoctorCheck[];
}

export const SERIES = ['stored', 'succeeded', 'failed_attempts', 'ended_badly', 'backlog', 'late_p50_ms', 'late_p99_ms'] as const;
export type SeriesName = (typeof SERIES)[number];

export interface Series {
  step_ms: number;
  from: Moment;
  series: Partial<Record<SeriesName, (number | null)[]>>;
}
