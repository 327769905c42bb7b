// Settings of this browser: kept in localStorage, never on the server. No token is ever kept here.
import { useSyncExternalStore } from 'react';

export interface Prefs {
  language: 'auto' | 'en' | 'zh';
  theme: 'system' | 'light' | 'dark';
  zone: string; // 'local', 'UTC' or an IANA name
  pageSize: number;
  columns: Record<string, string[]>; // by list; missing: its defaults
}

const KEY = 'easyretry.dashboard';
export const PAGE_SIZES = [25, 50, 100, 200];
const DEFAULTS: Prefs = { language: 'auto', theme: 'system', zone: 'local', pageSize: 50, columns: {} };

function validZone(zone: unknown): zone is string {
  if (zone === 'local') return true;
  try {
    new Intl.DateTimeFormat('en', { timeZone: String(zone) });
    return typeof zone === 'string';
  } catch {
    return false;
  }
}

// Another version of the page, or a person, may have written anything there.
export function readPrefs(text: string | null): Prefs {
  let given: Partial<Prefs> = {};
  try {
    const parsed: unknown = JSON.parse(text ?? '{}');
    if (parsed && typeof parsed === 'object') given = parsed;
  } catch {
    // The defaults stand.
  }
  return {
    language: given.language === 'en' || given.language === 'zh' ? given.language : 'auto',
    theme: given.theme === 'light' || given.theme === 'dark' ? given.theme : 'system',
    zone: validZone(given.zone) ? given.zone : 'local',
    pageSize: PAGE_SIZES.includes(given.pageSize as number) ? given.pageSize! : DEFAULTS.pageSize,
    columns: given.columns && typeof given.columns === 'object' ? given.columns : {},
  };
}

function stored(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null; // storage is forbidden in this browser
  }
}

let prefs = readPrefs(typeof localStorage === 'undefined' ? null : stored());
const listeners = new Set<() => void>();

export function getPrefs(): Prefs {
  return prefs;
}

export function setPrefs(change: Partial<Prefs>): void {
  prefs = { ...prefs, ...change };
  try {
    localStorage.setItem(KEY, JSON.stringify(prefs));
  } catch {
    // They last as long as this page.
  }
  adopt(prefs);
}

export function usePrefs(): Prefs {
  return useSyncExternalStore((changed) => {
    listeners.add(changed);
    return () => listeners.delete(changed);
  }, getPrefs);
}

export function zoneName(zone: string = prefs.zone): string {
  return zone === 'local' ? Intl.DateTimeFormat().resolvedOptions().timeZone : zone;
}

export function isDark(): boolean {
  return prefs.theme === 'dark' || (prefs.theme === 'system' && matchMedia('(prefers-color-scheme: dark)').matches);
}

export function applyTheme(): void {
  document.documentElement.dataset.theme = isDark() ? 'dark' : 'light';
}

function adopt(changed: Prefs): void {
  prefs = changed;
  applyTheme();
  for (const listener of listeners) listener();
}

// Settings changed in another tab apply here, too, and so does the system's theme.
if (typeof window !== 'undefined') {
  addEventListener('storage', (event) => event.key === KEY && adopt(readPrefs(event.newValue)));
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => adopt({ ...prefs }));
}
