// Asks for a token. Over a page whose session has expired it is a dialog, so that filters and scroll position stay.
import { KeyRound } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import logo from '../icon.svg';
import { ApiError } from '../api/client';
import { Button } from '../ui/basics';
import { Problem } from '../ui/card';
import { Dialog, Field } from '../ui/dialog';
import { duration } from '../lib/time';
import { useSession } from './session';

function useLogin() {
  const { logIn } = useSession();
  const [token, setToken] = useState('');
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const submit = async () => {
    if (busy || !token.trim()) return;
    setBusy(true);
    setError(undefined);
    try {
      await logIn(token.trim());
    } catch (refusal) {
      setError(refusal);
      setBusy(false);
    }
  };
  return { token, setToken, busy, error, submit };
}

export function Login({ expired = false }: { expired?: boolean }) {
  const { t } = useTranslation();
  const login = useLogin();
  const { logOut } = useSession();
  const form = (
    <>
      <Field label={t('login.token')}>
        <input
          type="password"
          name="token"
          autoComplete="current-password"
          spellCheck={false}
          autoFocus
          required
          maxLength={512}
          placeholder="er_…"
          value={login.token}
          onChange={(event) => login.setToken(event.target.value)}
        />
      </Field>
      {login.error !== undefined && <Refusal error={login.error} />}
    </>
  );
  const button = (
    <Button type="submit" kind="primary" icon={KeyRound} busy={login.busy} disabled={!login.token.trim()}>
      {t('login.button')}
    </Button>
  );
  if (expired) {
    return (
      <Dialog title={t('login.expired')} onClose={() => void logOut()} onSubmit={() => void login.submit()} footer={button}>
        <p>{t('login.expiredText')}</p>
        {form}
      </Dialog>
    );
  }
  return (
    <main className="login">
      <form
        className="card"
        onSubmit={(event) => {
          event.preventDefault();
          void login.submit();
        }}
      >
        <div className="login-brand">
          <img src={logo} alt="" width="36" height="36" />
          <h1>EasyRetry</h1>
        </div>
        {form}
        {button}
        <p className="quiet-text">
          {t('login.where')} <code>easyretry.tokens.first</code>
        </p>
        <p className="quiet-text">
          {t('login.create')} <code>easyretry token create NAME --role operator</code>
        </p>
      </form>
    </main>
  );
}

function Refusal({ error }: { error: unknown }) {
  const { t } = useTranslation();
  if (error instanceof ApiError && error.status === 401) {
    return (
      <p className="bad-text" role="alert">
        {t('login.wrong')}
      </p>
    );
  }
  if (error instanceof ApiError && error.status === 429) {
    return (
      <p className="bad-text" role="alert">
        {t('login.tooMany', { time: duration(error.retryAfterMs || 60_000) })}
      </p>
    );
  }
  return <Problem error={error} />;
}
