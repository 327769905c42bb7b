// Reads the stream of events into a bounded list, and connects again when it ends.
import { useCallback, useEffect, useRef, useState } from 'react';
import { events as stream, pause } from '../../api/events';
import type { TaskEvent } from '../../api/contract';

export interface Seen {
  number: number;
  event: TaskEvent;
}

export interface Tail {
  events: Seen[];
  held: number; // events that came while paused
  state: 'connecting' | 'open' | 'lost' | 'paused';
  clear: () => void;
}

const MOST = 500; // rows; older ones are dropped
const DRAW_MS = 250; // a storm of events is drawn four times a second

export function useEventTail(query: string, paused: boolean): Tail {
  const [shown, setShown] = useState<Seen[]>([]);
  const [held, setHeld] = useState(0);
  const [state, setState] = useState<'connecting' | 'open' | 'lost'>('connecting');
  const waiting = useRef<Seen[]>([]);
  const isPaused = useRef(paused);
  isPaused.current = paused;

  useEffect(() => {
    const end = new AbortController();
    let lastId = '';
    let number = 0;
    waiting.current = [];
    setShown([]);
    const read = async () => {
      while (!end.signal.aborted) {
        try {
          const opened = () => setState('open');
          for await (const each of stream({ query, ...(lastId && { lastId }), signal: end.signal, opened })) {
            lastId = each.id || lastId;
            const event: TaskEvent = each.data ? JSON.parse(each.data) : { kind: each.event, at: new Date().toISOString() };
            waiting.current = [{ number: number++, event }, ...waiting.current].slice(0, MOST);
          }
        } catch {
          if (!end.signal.aborted) setState('lost');
        }
        await pause(2_000, end.signal);
      }
    };
    void read();
    const timer = setInterval(() => {
      if (isPaused.current) {
        setHeld(waiting.current.length);
      } else if (waiting.current.length > 0) {
        const fresh = waiting.current;
        waiting.current = [];
        setShown((before) => [...fresh, ...before].slice(0, MOST));
        setHeld(0);
      }
    }, DRAW_MS);
    return () => {
      end.abort();
      clearInterval(timer);
    };
  }, [query]);

  const clear = useCallback(() => {
    waiting.current = [];
    setShown([]);
  }, []);
  return { events: shown, held, state: paused ? 'paused' : state, clear };
}
