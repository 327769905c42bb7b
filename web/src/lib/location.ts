// Routes live behind the #, with their filters: http://host/prefix/#/history?outcome=exhausted. The server then has one
// page to serve, under any prefix, and a mistyped path of the API stays a 404.
import { useSyncExternalStore } from 'react';

function subscribe(changed: () => void): () => void {
  addEventListener('hashchange', changed);
  return () => removeEventListener('hashchange', changed);
}

const current = () => window.location.hash.replace(/^#?\/?/, '/');
const path = () => current().split('?')[0]!;
const search = () => current().slice(path().length + 1);

export function navigate(to: string, options: { replace?: boolean } = {}): void {
  if (options.replace) {
    history.replaceState(null, '', `#${to}`);
    dispatchEvent(new HashChangeEvent('hashchange'));
  } else {
    window.location.hash = to;
  }
}

// The hooks that wouter's Router takes.
export function useHashPath(): [string, typeof navigate] {
  return [useSyncExternalStore(subscribe, path), navigate];
}
useHashPath.hrefs = (href: string) => `#${href}`;

export function useHashSearch(): string {
  return useSyncExternalStore(subscribe, search);
}
