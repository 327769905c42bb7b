// The arguments of a task: asked for only on request, and only with the right to see them. They are text, whatever they
// contain; a megabyte is shown in part first.
import { useQuery } from '@tanstack/react-query';
import { Eye, Lock } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { getText } from '../../api/client';
import { indent, rawMember } from '../../lib/json';
import { bytes } from '../../lib/numbers';
import { useSession } from '../../shell/session';
import { Button } from '../../ui/basics';
import { Card, Loaded } from '../../ui/card';
import { CopyButton } from '../../ui/copy';

const FIRST = 20_000; // characters

export function Arguments({ id }: { id: string }) {
  const { t } = useTranslation();
  const { may } = useSession();
  const [asked, setAsked] = useState(false);
  const answer = useQuery({
    queryKey: ['arguments', id],
    queryFn: ({ signal }) => getText(`/v1/tasks/${id}?args`, signal),
    enabled: asked,
    staleTime: Infinity, // arguments do not change
    gcTime: 0,
  });
  return (
    <Card title={t('task.arguments')}>
      {!may('payloads') ? (
        <p className="quiet-text with-icon">
          <Lock className="icon" aria-hidden />
          {t('task.noPayloads')}
        </p>
      ) : !asked ? (
        <Button icon={Eye} onClick={() => setAsked(true)}>
          {t('task.showArguments')}
        </Button>
      ) : (
        <Loaded query={answer}>
          {(text) => (
            <>
              <Json text={rawMember(text, 'args') ?? 'null'} />
              {rawMember(text, 'result') && (
                <>
                  <h3>{t('task.result')}</h3>
                  <Json text={rawMember(text, 'result')!} />
                </>
              )}
            </>
          )}
        </Loaded>
      )}
    </Card>
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
