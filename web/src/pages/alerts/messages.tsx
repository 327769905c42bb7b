// The latest messages of all channels: to whom, about what, and whether they arrived.
import { MailQuestion } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import type { Alerts } from '../../api/contract';
import { Badge, Empty, Given, TextLink, type Tone } from '../../ui/basics';
import { Card } from '../../ui/card';
import { Time } from '../../ui/time';

type Sent = Alerts['sent'][number];

const TONES: Record<Sent['status'], Tone> = { firing: 'bad', resolved: 'ok', test: 'info' };

export function Messages({ alerts }: { alerts: Alerts }) {
  const { t } = useTranslation();
  return (
    <Card
      title={t('alerts.messages')}
      actions={
        <span className="quiet-text">
          {t('alerts.since')} <Time at={alerts.since} />
        </span>
      }
      flush
    >
      {alerts.sent.length === 0 ? (
        <Empty icon={MailQuestion} title={t('alerts.noMessages')} />
      ) : (
        <ul className="messages">
          {alerts.sent.map((sent, i) => (
            <li key={`${sent.at} ${sent.channel} ${i}`}>
              <Message sent={sent} />
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}

function Message({ sent }: { sent: Sent }) {
  const { t } = useTranslation();
  return (
    <>
      <p className="message-line">
        <Badge tone={TONES[sent.status]}>{t(`alerts.status.${sent.status}`)}</Badge>
        <Given text={sent.summary.replace(/^\[EasyRetry\] /, '')} className="strong" />
      </p>
      <p className="quiet-text">
        <Time at={sent.at} /> · <Given text={sent.channel} />
        {sent.rule && (
          <>
            {' · '}
            {t('alerts.rule')} <Given text={sent.rule} />
          </>
        )}
        {' · '}
        {sent.arrived ? t('alerts.arrived') : <span className="bad-text">{t('alerts.lost', { count: sent.tries })}</span>}
        {sent.tasks.map((id) => (
          <TextLink key={id} to={`/task/${id}`} className="mono">
            {id}
          </TextLink>
        ))}
      </p>
      {sent.why && (
        <p className="bad-text">
          <Given text={sent.why} />
        </p>
      )}
    </>
  );
}
