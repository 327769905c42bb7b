// The stream of events of the daemon, and the signal that something has changed.
import { EventParser, type ServerEvent } from '../lib/sse';
import { send } from './client';

export interface Watch {
  query?: string;
  lastId?: string;
  signal: AbortSignal;
  opened?: () => void;
}

// Yields events until the stream ends or `signal` is set. Throws an ApiError if the daemon refuses.
export async function* events({ query = '', lastId, signal, opened }: Watch): AsyncGenerator<ServerEvent> {
  const headers: Record<string, string> = { Accept: 'text/event-stream' };
  if (lastId) headers['Last-Event-ID'] = lastId;
  const response = await send(new Request(`./v1/events${query && `?${query}`}`, { headers, signal }));
  opened?.();
  const parser = new EventParser();
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield* parser.push(value);
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

const QUIET_MS = 2_500; // at most one refresh in this time, however much happens
const POLL_MS = 5_000;

export type Liveness = 'live' | 'polling' | 'offline';

// Calls `changed` when something has happened. It reads one event, hangs up, and continues after a pause with
// Last-Event-ID: a busy daemon sends this page one event at a time, and an idle one sends nothing. Without a stream it
// calls `changed` regularly.
export async function followChanges(changed: () => void, tell: (how: Liveness) => void, signal: AbortSignal): Promise<void> {
  let lastId: string | undefined;
  while (!signal.aborted) {
    const one = new AbortController();
    const end = () => one.abort();
    signal.addEventListener('abort', end);
    try {
      for await (const event of events({ ...(lastId && { lastId }), signal: one.signal, opened: () => tell('live') })) {
        lastId = event.id || lastId;
        break;
      }
      if (signal.aborted) return;
      changed();
      await pause(QUIET_MS, signal);
    } catch (error) {
      if (signal.aborted) return;
      tell((error as { status?: number }).status === 0 ? 'offline' : 'polling');
      await pause(POLL_MS, signal);
      if (!signal.aborted) changed();
    } finally {
      signal.removeEventListener('abort', end);
      one.abort();
    }
  }
}

// One tab of a browser follows for all that can be seen: each stream takes one of the six connections that a browser has
// for a host. The tab that holds the lock follows, and tells the others; when it ends or is hidden, another one has the
// lock. Browsers give locks only to pages from this machine or with TLS; elsewhere each tab follows by itself.
export async function followTogether(
  group: string,
  changed: () => void,
  tell: (how: Liveness) => void,
  signal: AbortSignal,
): Promise<void> {
  if (!navigator.locks) return followChanges(changed, tell, signal);
  const name = `easyretry ${location.pathname} ${group}`;
  const others = new BroadcastChannel(name);
  others.onmessage = ({ data }: MessageEvent<Liveness | 'changed'>) => (data === 'changed' ? changed() : tell(data));
  signal.addEventListener('abort', () => others.close());
  const follow = () =>
    followChanges(
      () => {
        changed();
        if (!signal.aborted) others.postMessage('changed');
      },
      (how) => {
        tell(how);
        if (!signal.aborted) others.postMessage(how);
      },
      signal,
    );
  await navigator.locks.request(name, { signal }, follow).catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
}
