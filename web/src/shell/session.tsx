// Who is logged in. The token is exchanged for a cookie that scripts cannot read; the page keeps only the CSRF token, in
// memory.
import { createContext, use, useCallback, useEffect, useMemo, useState, type ReactNode } from 'react';
import { ApiError, getJson, onLoggedOut, postJson, send, setCsrf, setNamespace } from '../api/client';
import type { Me, Session } from '../api/contract';
import { queryClient } from '../api/queries';

type Status = 'starting' | 'out' | 'in' | 'expired' | 'unreachable';

interface SessionState {
  status: Status;
  me: Me | undefined;
  problem: ApiError | undefined; // why the daemon did not say who is logged in
  namespace: string; // '' is the default one
  may: (right: Right) => boolean;
  logIn: (token: string) => Promise<void>;
  logOut: () => Promise<void>;
  look: () => Promise<void>;
  chooseNamespace: (name: string) => void;
}

export type Right = 'view' | 'submit' | 'work' | 'operate' | 'payloads' | 'administer';

const Context = createContext<SessionState | null>(null);
const NAMESPACE = 'easyretry.namespace';

export function SessionProvider({ children }: { children: ReactNode }) {
  const [status, setStatus] = useState<Status>('starting');
  const [me, setMe] = useState<Me>();
  const [problem, setProblem] = useState<ApiError>();
  const [namespace, setChosen] = useState(() => sessionStorage.getItem(NAMESPACE) ?? '');
  setNamespace(namespace);

  const begin = useCallback((session: Session) => {
    setCsrf(session.csrf);
    setMe(session);
    setProblem(undefined);
    setStatus('in');
  }, []);

  const look = useCallback(async () => {
    try {
      begin(await getJson<Session>('/v1/session'));
    } catch (error) {
      const refusal = error instanceof ApiError ? error : new ApiError(0, 'unreachable', String(error));
      setProblem(refusal.status === 401 ? undefined : refusal);
      setStatus(refusal.status === 401 ? 'out' : 'unreachable');
    }
  }, [begin]);

  useEffect(() => {
    onLoggedOut(() => setStatus((before) => (before === 'in' ? 'expired' : before)));
    void look();
  }, [look]);

  const logIn = useCallback(
    async (token: string) => {
      const session = await postJson<Session>('/v1/session', { token });
      // Another person may have logged in: nothing of the one before is shown.
      if (session.name !== me?.name || session.role !== me.role) queryClient.clear();
      else void queryClient.invalidateQueries();
      begin(session);
    },
    [begin, me],
  );

  const logOut = useCallback(async () => {
    await send(new Request('./v1/session', { method: 'DELETE' })).catch(() => undefined);
    queryClient.clear();
    setCsrf('');
    setMe(undefined);
    setStatus('out');
  }, []);

  const chooseNamespace = useCallback((name: string) => {
    sessionStorage.setItem(NAMESPACE, name);
    setNamespace(name);
    setChosen(name);
    queryClient.clear();
  }, []);

  const state = useMemo<SessionState>(
    () => ({
      status,
      me,
      problem,
      namespace,
      may: (right) => me?.rights.includes(right) ?? false,
      logIn,
      logOut,
      look,
      chooseNamespace,
    }),
    [status, me, problem, namespace, logIn, logOut, look, chooseNamespace],
  );
  return <Context value={state}>{children}</Context>;
}

export function useSession(): SessionState {
  const state = use(Context);
  if (!state) throw new Error('no session around');
  return state;
}
