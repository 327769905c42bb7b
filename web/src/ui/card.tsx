// A card loads and fails by itself.
import type { UseQueryResult } from '@tanstack/react-query';
import { CircleSlash, RotateCw, TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { ApiError } from '../api/client';
import { Button, Ticked } from './basics';
import { CopyButton } from './copy';
import { hintOf, said } from './said';

export function Card(props: { title?: ReactNode; actions?: ReactNode; children: ReactNode; className?: string; flush?: boolean }) {
  return (
    <section className={`card ${props.flush ? 'flush' : ''} ${props.className ?? ''}`}>
      {(props.title || props.actions) && (
        <header className="card-head">
          <h2>{props.title}</h2>
          <div className="actions">{props.actions}</div>
        </header>
      )}
      <div className="card-body">{props.children}</div>
    </section>
  );
}

// Shows the data of a query, a placeholder while it loads, or its error. Data that is there stays while an update fails.
export function Loaded<T>({
  query,
  lines = 3,
  children,
}: {
  query: UseQueryResult<T>;
  lines?: number;
  children: (data: T) => ReactNode;
}) {
  if (query.data !== undefined) return <>{children(query.data)}</>;
  if (query.isError) return <Problem error={query.error} onAgain={() => void query.refetch()} />;
  return <Skeleton lines={lines} />;
}

export function Skeleton({ lines }: { lines: number }) {
  const { t } = useTranslation();
  return (
    <div className="skeleton" role="status" aria-label={t('common.loading')}>
      {Array.from({ length: lines }, (_, i) => (
        <div key={i} />
      ))}
    </div>
  );
}

export function Problem({ error, title, onAgain }: { error: unknown; title?: string; onAgain?: () => void }) {
  const { t } = useTranslation();
  const problem = error instanceof ApiError ? error : new ApiError(-1, 'page', String(error));
  if (problem.missingEndpoint) {
    return (
      <div className="problem quiet">
        <CircleSlash className="icon" aria-hidden />
        <p>{t('common.notOnThisDaemon')}</p>
      </div>
    );
  }
  const hint = hintOf(problem, t);
  return (
    <div className="problem" role="alert">
      <TriangleAlert className="icon" aria-hidden />
      <div>
        {title && <p className="message">{title}</p>}
        <p className={title ? '' : 'message'}>{said(problem, t)}</p>
        {hint && (
          <p className="hint">
            <Ticked text={hint} />
          </p>
        )}
        {problem.requestId && (
          <p className="request-id">
            {t('common.request')} <code>{problem.requestId}</code>
            <CopyButton text={problem.requestId} label={t('common.copyRequestId')} />
          </p>
        )}
      </div>
      {onAgain && (
        <Button icon={RotateCw} onClick={onAgain}>
          {t('common.again')}
        </Button>
      )}
    </div>
  );
}
