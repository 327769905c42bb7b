// Keeps what is shown fresh: one listener for all tabs of a browser, only while one of them can be seen.
import { createContext, use, useEffect, useRef, useState, type ReactNode } from 'react';
import { followTogether, type Liveness } from '../api/events';
import { queryClient } from '../api/queries';
import { useSession } from './session';

const Context = createContext<Liveness>('live');
const listeners = new Set<() => void>();

export function LiveProvider({ active, children }: { active: boolean; children: ReactNode }) {
  const [how, setHow] = useState<Liveness>('live');
  const { namespace } = useSession();
  const [visible, setVisible] = useState(!document.hidden);

  useEffect(() => {
    const look = () => setVisible(!document.hidden);
    document.addEventListener('visibilitychange', look);
    return () => document.removeEventListener('visibilitychange', look);
  }, []);

  useEffect(() => {
    if (!active || !visible) return;
    const end = new AbortController();
    const changed = () => {
      void queryClient.invalidateQueries({ queryKey: ['changing'] });
      for (const listener of listeners) listener();
    };
    void followTogether(namespace, changed, setHow, end.signal);
    return () => end.abort();
  }, [active, visible, namespace]);

  return <Context value={how}>{children}</Context>;
}

export function useLiveness(): Liveness {
  return use(Context);
}

// Calls `listener` regularly while the page can be seen, and at once when it can be seen again. Other daemons and programs with an
// engine of their own change tasks, too, and this daemon sends no events of theirs.
export function useRegularly(everyMs: number, listener: () => void): void {
  const latest = useRef(listener);
  latest.current = listener;
  useEffect(() => {
    const look = () => {
      if (!document.hidden) latest.current();
    };
    const timer = setInterval(look, everyMs);
    document.addEventListener('visibilitychange', look);
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', look);
    };
  }, [everyMs]);
}

// Calls `listener` when something has happened at the daemon, at most every few seconds.
export function useChanges(listener: () => void): void {
  useEffect(() => {
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
    };
  }, [listener]);
}
