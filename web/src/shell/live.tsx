// Keeps what is shown fresh: one listener for all tabs of a browser, only while one of them can be seen.
import { createContext, use, useEffect, useState, type ReactNode } from 'react';
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

// Calls `listener` when something has happened at the daemon, at most every few seconds.
export function useChanges(listener: () => void): void {
  useEffect(() => {
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
    };
  }, [listener]);
}
