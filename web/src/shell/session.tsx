// Who is logged in. The token is exchanged for a cookie that scripts cannot read; the page keeps only the CSRF token, in
// memory.
import { createContext, use, useCallback, useEffect, useMemo, useRef, useState, type ReactNode } from 'react';
import { ApiError, getJson, onSession, postJson, send, setCsrf, setNamespace } from '../api/client';
import type { Me, Session } from '../api/contract';
import { queryClient } from '../api/queries';
import { TabsOfSession } from './session-news';

// `stuck`: logging out failed, so the session goes on.
type Status = 'starting' | 'out' | 'in' | 'expired' | 'unreachable' | 'stuck';

interface SessionState {
  status: Status;
  me: Me | undefined;
  problem: ApiError | undefined; // why the daemon did not say who is logged in, or did not end the session
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

const asRefusal = (error: unknown) => (error instanceof ApiError ? error : new ApiError(0, 'unreachable', String(error)));

// Ends the session of the cookie. Another tab may have begun it: then its CSRF token is another one, and the daemon says which.
// No session at all is what was wanted.
async function endSession(): Promise<void> {
  const end = () => send(new Request('./v1/session', { method: 'DELETE' }));
  try {
    await end().catch(async (error: unknown) => {
      if (asRefusal(error).code !== 'csrf') throw error;
      setCsrf((await getJson<Session>('/v1/session')).csrf);
      await end();
    });
  } catch (error) {
    if (asRefusal(error).status !== 401) throw error;
  }
}

export function SessionProvider({ children }: { children: ReactNode }) {
  const [status, setStatus] = useState<Status>('starting');
  const [me, setMe] = useState<Me>();
  const [problem, setProblem] = useState<ApiError>();
  const [namespace, setChosen] = useState(() => sessionStorage.getItem(NAMESPACE) ?? '');
  const shown = useRef<Me>(undefined);
  const tabs = useRef<TabsOfSession>(undefined);
  setNamespace(namespace);

  const chooseNamespace = useCallback((name: string) => {
    sessionStorage.setItem(NAMESPACE, name);
    setNamespace(name);
    setChosen(name);
    queryClient.clear();
  }, []);

  const begin = useCallback(
    (session: Session) => {
      // Another person may have logged in: nothing of the one before is shown.
      const same = session.name === shown.current?.name && session.role === shown.current.role;
      if (shown.current && !same) chooseNamespace('');
      else void queryClient.invalidateQueries();
      shown.current = session;
      setCsrf(session.csrf);
      setMe(session);
      setProblem(undefined);
      setStatus('in');
    },
    [chooseNamespace],
  );

  // The next person may be another one, with a token for other namespaces.
  const forget = useCallback(() => {
    chooseNamespace('');
    shown.current = undefined;
    setCsrf('');
    setMe(undefined);
    setProblem(undefined);
    setStatus('out');
  }, [chooseNamespace]);

  const look = useCallback(async () => {
    try {
      begin(await getJson<Session>('/v1/session'));
    } catch (error) {
      const refusal = asRefusal(error);
      const ended = refusal.status === 401;
      setProblem(ended ? undefined : refusal);
      // A page that is shown stays.
      setStatus((before) => (before === 'in' || before === 'expired' ? (ended ? 'expired' : before) : ended ? 'out' : 'unreachable'));
    }
  }, [begin]);

  useEffect(() => {
    onSession({
      ended: () => setStatus((before) => (before === 'in' ? 'expired' : before)),
      renew: look,
      namespaceRefused: () => chooseNamespace(''),
    });
    tabs.current = new TabsOfSession((news) => (news === 'out' ? forget() : void look()));
    void look();
    return () => tabs.current?.close();
  }, [look, forget, chooseNamespace]);

  const logIn = useCallback(
    async (token: string) => {
      begin(await postJson<Session>('/v1/session', { token }));
      tabs.current?.tell('in');
    },
    [begin],
  );

  const logOut = useCallback(async () => {
    try {
      await endSession();
    } catch (error) {
      // Who leaves must not believe that the session is over, nor leave tasks on the screen.
      queryClient.clear();
      setProblem(asRefusal(error));
      setStatus('stuck');
      return;
    }
    forget();
    tabs.current?.tell('out');
  }, [forget]);

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
