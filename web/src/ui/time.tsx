// Times: relative, with the absolute one on hover; all of them advance by one timer.
import { useSyncExternalStore } from 'react';
import { useTranslation } from 'react-i18next';
import { usePrefs, zoneName } from '../lib/prefs';
import { absolute, now, relative, toMs, type Moment } from '../lib/time';

const listeners = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;
let second = Math.floor(Date.now() / 1000);

function subscribe(changed: () => void): () => void {
  listeners.add(changed);
  timer ??= setInterval(() => {
    second = Math.floor(Date.now() / 1000);
    for (const listener of listeners) listener();
  }, 1000);
  return () => {
    listeners.delete(changed);
    if (listeners.size === 0) {
      clearInterval(timer);
      timer = undefined;
    }
  };
}

// The store's time, renewed every second.
export function useNow(): number {
  useSyncExternalStore(subscribe, () => second);
  return now();
}

export function Time({ at, exact = false }: { at: Moment; exact?: boolean }) {
  const { i18n } = useTranslation();
  const { zone } = usePrefs();
  const current = useNow();
  if (Number.isNaN(toMs(at))) return <span>{String(at)}</span>;
  const full = absolute(at, i18n.language, zoneName(zone));
  const iso = new Date(toMs(at)).toISOString();
  return (
    <time dateTime={iso} title={`${full}\n${iso}`}>
      {exact ? full : relative(at, i18n.language, current)}
    </time>
  );
}
