// The arguments of a task, and its result if that was kept: asked for only on request, and only with the right to see them.
// They are text, whatever they contain; a megabyte is shown in part first.
import { useQuery } from '@tanstack/react-query';
import { Eye, Lock } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { getText } from '../../api/client';
import type { Task } from '../../api/contract';
import { indent, rawMember } from '../../lib/json';
import { bytes } from '../../lib/numbers';
import { useSession } from '../../shell/session';
import { Button } from '../../ui/basics';
import { Card, Loaded } from '../../ui/card';
import { CopyButton } from '../../ui/copy';

const FIRST = 20_000; // characters

export function Arguments({ task }: { task: Task }) {
  const { t } = useTranslation();
  const { may } = useSession();
  const [asked, setAsked] = useState(false);
  const ended = task.state === 'finished';
  // A worker may see what became of a task, and not what it was given.
  const seen = [may('payloads') && 'args', ended && (may('payloads') || may('work')) && 'result'].filter(Boolean).join('&');
  const answer = useQuery({
    queryKey: ['payloads', task.id, seen, task.version], // a result comes with the end
    queryFn: ({ signal }) => getText(`/v1/tasks/${task.id}?${seen}`, signal),
    enabled: asked && seen !== '',
    staleTime: Infinity,
    gcTime: 0,
  });
  return (
    <Card title={t(ended ? 'task.argumentsAndResult' : 'task.arguments')}>
      {!may('payloads') && (
        <p className="quiet-text with-icon">
          <Lock className="icon" aria-hidden />
          {t('task.noPayloads')}
        </p>
      )}
      {seen !== '' && !asked && (
        <Button icon={Eye} onClick={() => setAsked(true)}>
          {t('task.showArguments')}
        </Button>
      )}
      {seen !== '' && asked && (
        <Loaded query={answer}>
          {(text) => (
            <>
              {may('payloads') && <Given text={text} ended={ended} />}
              {ended && <Result text={text} succeeded={task.outcome === 'succeeded'} />}
            </>
          )}
        </Loaded>
      )}
    </Card>
  );
}

function Given({ text, ended }: { text: string; ended: boolean }) {
  const { t } = useTranslation();
  const args = rawMember(text, 'args');
  return (
    <>
      {ended && <h3>{t('task.arguments')}</h3>}
      {args === undefined ? <p className="quiet-text">{t('task.argumentsRemoved')}</p> : <Json text={args} />}
    </>
  );
}

function Result({ text, succeeded }: { text: string; succeeded: boolean }) {
  const { t } = useTranslation();
  const result = rawMember(text, 'result');
  const leftOut = rawMember(text, 'result_left_out');
  if (result === undefined && leftOut === undefined && !succeeded) return null;
  return (
    <>
      <h3>{t('task.result')}</h3>
      {result !== undefined ? (
        <Json text={result} />
      ) : (
        <p className="quiet-text">
          {leftOut === undefined ? t('task.noResult') : t('task.resultLeftOut', { size: bytes(Number(leftOut)) })}
        </p>
      )}
    </>
  );
}

function Json({ text }: { text: string }) {
  const { t } = useTranslation();
  const [all, setAll] = useState(false);
  const shown = indent(all || text.length <= FIRST ? text : text.slice(0, FIRST));
  return (
    <div className="json">
      <div className="json-head">
        <span className="quiet-text">{bytes(new Blob([text]).size)}</span>
        <CopyButton text={text} label={t('task.copyArguments')} />
      </div>
      <pre tabIndex={0} dir="ltr">
        {shown}
      </pre>
      {text.length > FIRST && !all && (
        <Button onClick={() => setAll(true)}>{t('task.showAll', { size: bytes(text.length) })}</Button>
      )}
    </div>
  );
}
