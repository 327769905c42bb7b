// The keyboard: j and k move through rows, / finds, g and a letter goes to a page, ? shows them all.
import { useEffect } from 'react';
import { navigate } from '../lib/location';

// By the letter after g: the name of the page, which is its path, too.
export const PLACES: Record<string, string> = {
  o: 'overview',
  t: 'tasks',
  h: 'history',
  e: 'errors',
  a: 'handlers',
  i: 'instances',
  b: 'bulk',
  l: 'events',
  n: 'alerts',
  u: 'audit',
  c: 'access',
  s: 'settings',
};

function pathOf(place: string): string {
  return place === 'overview' ? '/' : `/${place}`;
}

function typing(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));
}

// Moves the focus to the next row: to its link or first button, or to the row itself if it has neither.
function step(by: number): void {
  const rows = [...document.querySelectorAll<HTMLElement>('main [data-row]')];
  const current = rows.findIndex((row) => row.contains(document.activeElement));
  const next = rows[Math.min(rows.length - 1, Math.max(0, current < 0 ? 0 : current + by))];
  if (!next) return;
  const inside = next.querySelector<HTMLElement>('[data-row-link]') ?? next.querySelector<HTMLElement>('a, button');
  if (!inside) next.tabIndex = -1;
  (inside ?? next).focus();
  next.scrollIntoView({ block: 'nearest' });
}

export function useKeyboard(onHelp: () => void): void {
  useEffect(() => {
    let going = 0; // when g was pressed
    const pressed = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === 'Escape' && typing(event.target)) return (event.target as HTMLElement).blur();
      if (typing(event.target) || document.querySelector('dialog[open]')) return;
      const afterG = Date.now() - going < 1_000;
      going = 0;
      if (afterG && PLACES[event.key]) navigate(pathOf(PLACES[event.key]!));
      else if (event.key === 'g') going = Date.now();
      else if (event.key === 'j') step(1);
      else if (event.key === 'k') step(-1);
      else if (event.key === 'x')
        document.activeElement?.closest('[data-row]')?.querySelector<HTMLInputElement>('input[type=checkbox]')?.click();
      else if (event.key === '?') onHelp();
      else if (event.key === '/') document.querySelector<HTMLElement>('[data-search]')?.focus();
      else return;
      event.preventDefault();
    };
    addEventListener('keydown', pressed);
    return () => removeEventListener('keydown', pressed);
  }, [onHelp]);
}
