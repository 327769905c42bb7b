// Filters of the two lists: in the URL, in requests and in bulk jobs under the same names.

import { CLASSES } from './classes';

export type ListKind = 'tasks' | 'history';

const COMMON = ['handler', 'key', 'business_type', 'business_id', 'tag', 'class', 'attempts_from', 'error', 'created_from', 'created_until'] as const;
export const FILTER_NAMES = {
  tasks: [...COMMON, 'state', 'owner', 'due_from', 'due_until'],
  history: [...COMMON, 'outcome', 'finished_from', 'finished_until', 'requeued'],
} as const;

export type FilterName = (typeof FILTER_NAMES)[ListKind][number];
export type Filters = Partial<Record<FilterName, string>>;

export const STATES = ['pending', 'running'] as const;
export const OUTCOMES = ['succeeded', 'exhausted', 'rejected', 'quarantined', 'parked', 'cancelled'] as const;

// Unknown names and values that the API would refuse are dropped: an old link must not break the page.
export function parseFilters(search: string, kind: ListKind): Filters {
  const given = new URLSearchParams(search);
  const filters: Filters = {};
  for (const name of FILTER_NAMES[kind]) {
    const value = given.get(name)?.trim();
    if (!value) continue;
    if (name === 'state' && !STATES.includes(value as never)) continue;
    if (name === 'outcome' && !OUTCOMES.includes(value as never)) continue;
    if (name === 'class' && !CLASSES.includes(value as never)) continue;
    if (name === 'requeued' && value !== 'true') continue;
    if (name === 'attempts_from' && !/^[1-9]\d{0,6}$/.test(value)) continue;
    if (name === 'error' && !/^[0-9a-f]{16}$/.test(value)) continue;
    if (isTime(name) && Number.isNaN(Date.parse(value))) continue;
    filters[name] = value;
  }
  return filters;
}

export function isTime(name: FilterName): boolean {
  return /^(created|finished|due)_(from|until)$/.test(name);
}

export function toSearch(filters: Filters): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(filters)) if (value) search.set(name, value);
  return search.toString();
}

export function listUrl(kind: ListKind, filters: Filters = {}): string {
  const search = toSearch(filters);
  return search ? `/${kind}?${search}` : `/${kind}`;
}

// A text typed into the search box: digits are the id of a task, anything else is a key.
export function isTaskId(text: string): boolean {
  return /^[0-9]{1,19}$/.test(text);
}
