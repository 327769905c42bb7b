// Alerts: the channels and a button to test each, the rules, and what was told.
import { BellOff, Send } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { useAlerts } from '../../api/more-queries';
import { queryClient } from '../../api/queries';
import { api } from '../../api/typed';
import { useChange } from '../../api/use-change';
import type { Alerts } from '../../api/contract';
import { full } from '../../lib/numbers';
import { duration } from '../../lib/time';
import { useSession } from '../../shell/session';
import { Button, Empty, Given, PageHead, Ticked } from '../../ui/basics';
import { Card, Loaded } from '../../ui/card';
import { tell, tellError } from '../../ui/toast';
import { Tags } from '../tasks/columns';
import { Messages } from './messages';

type Channel = Alerts['channels'][number];
type Rule = Alerts['rules'][number];

export default function AlertsPage() {
  const { t } = useTranslation();
  const alerts = useAlerts();
  return (
    <>
      <PageHead title={t('alerts.title')} lead={t('alerts.lead')} />
      <Loaded query={alerts} lines={8}>
        {(answer) =>
          answer.channels.length === 0 ? (
            <Empty icon={BellOff} title={t('alerts.none')}>
              <p>
                <Ticked text={t('alerts.noneText')} />
              </p>
            </Empty>
          ) : (
            <div className="stack">
              <Card title={t('alerts.channels')} flush>
                <Channels channels={answer.channels} />
              </Card>
              <Card title={t('alerts.rules')} flush={answer.rules.length > 0}>
                {answer.rules.length > 0 ? <Rules rules={answer.rules} /> : <p>{t('alerts.noRules')}</p>}
              </Card>
              <Messages alerts={answer} />
            </div>
          )
        }
      </Loaded>
    </>
  );
}

function Channels({ channels }: { channels: Channel[] }) {
  const { t, i18n } = useTranslation();
  const operates = useSession().may('operate');
  return (
    <div className="table-scroll">
      <table className="table rows">
        <thead>
          <tr>
            <th>{t('alerts.channel')}</th>
            <th>{t('alerts.type')}</th>
            <th>{t('alerts.where')}</th>
            <th className="number">{t('alerts.delivered')}</th>
            <th className="number">{t('alerts.failed')}</th>
            {operates && (
              <th>
                <span className="unseen">{t('alerts.actions')}</span>
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {channels.map((channel) => (
            <tr key={channel.name} data-row={channel.name}>
              <td className="strong" data-label={t('alerts.channel')}>
                <Given text={channel.name} />
              </td>
              <td data-label={t('alerts.type')}>{channel.type}</td>
              <td className="mono" data-label={t('alerts.where')}>
                <Given text={channel.url} />
              </td>
              <td className="number" data-label={t('alerts.delivered')}>
                {full(channel.delivered, i18n.language)}
              </td>
              <td className={`number ${channel.failed > 0 ? 'bad-text' : ''}`} data-label={t('alerts.failed')}>
                {full(channel.failed, i18n.language)}
              </td>
              {operates && (
                <td className="row-actions">
                  <TestButton channel={channel.name} />
                </td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function TestButton({ channel }: { channel: string }) {
  const { t } = useTranslation();
  const test = useChange({
    mutationFn: async () => (await api.POST('/v1/alerts/test', { body: { channel } })).data!,
    onSuccess: ({ arrived, why }) =>
      arrived ? tell(t('alerts.testArrived', { channel })) : tellError(new Error(t('alerts.testFailed', { channel, why }))),
    onError: tellError,
    onSettled: () => void queryClient.invalidateQueries({ queryKey: ['changing', 'alerts'] }),
  });
  return (
    <Button icon={Send} busy={test.isPending} aria-label={t('alerts.testOf', { channel })} onClick={test.send}>
      {t('alerts.test')}
    </Button>
  );
}

function Rules({ rules }: { rules: Rule[] }) {
  const { t } = useTranslation();
  return (
    <div className="table-scroll">
      <table className="table rows">
        <thead>
          <tr>
            <th>{t('alerts.rule')}</th>
            <th>{t('alerts.handlers')}</th>
            <th>{t('alerts.when')}</th>
            <th>{t('alerts.tells')}</th>
          </tr>
        </thead>
        <tbody>
          {rules.map((rule) => (
            <tr key={rule.name} data-row={rule.name}>
              <td className="strong" data-label={t('alerts.rule')}>
                <Given text={rule.name} />
              </td>
              <td className="mono" data-label={t('alerts.handlers')}>
                <Given text={rule.handlers.join(', ')} />
              </td>
              <td data-label={t('alerts.when')}>
                <Thresholds rule={rule} />
              </td>
              <td data-label={t('alerts.tells')}>
                <Tags tags={rule.channels} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Thresholds({ rule }: { rule: Rule }) {
  const { t } = useTranslation();
  const texts = [
    rule.final_failures && t('alerts.final_failures', { count: rule.final_failures }),
    rule.quarantines && t('alerts.quarantines', { count: rule.quarantines }),
    rule.backlog_age_ms && t('alerts.backlog_age', { time: duration(rule.backlog_age_ms) }),
    rule.circuit_open_ms && t('alerts.circuit_open', { time: duration(rule.circuit_open_ms) }),
    rule.failure_rate && t('alerts.failure_rate', { percent: rule.failure_rate }),
  ];
  return <>{texts.filter(Boolean).join(' · ')}</>;
}
