// An empty store: the command that stores the first task.
import { Rocket } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { curl } from '../../lib/curl';
import { useSession } from '../../shell/session';
import { Empty } from '../../ui/basics';
import { CopyButton } from '../../ui/copy';

export function FirstSteps() {
  const { t } = useTranslation();
  const { namespace } = useSession();
  const command = curl('POST', '/v1/tasks', { handler: 'mail.send', args: [{ to: 'ann' }] }, namespace);
  return (
    <section className="card first-steps">
      <Empty icon={Rocket} title={t('first.title')}>
        <p>{t('first.text')}</p>
        <pre className="command" tabIndex={0}>
          {command}
          <CopyButton text={command} label={t('common.copyCurl')} />
        </pre>
        <p className="quiet-text">{t('first.worker')}</p>
      </Empty>
    </section>
  );
}
