// The five handlers that most need attention: late, unserved, paused or failing.
import { Boxes } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { useCluster, useHandlers } from '../../api/queries';
import { short } from '../../lib/numbers';
import { troubleOf } from '../../lib/trouble';
import { Empty, Given, TextLink } from '../../ui/basics';
import { Card, Loaded } from '../../ui/card';
import { HandlerBadge } from '../handlers/handler-badge';
import { OldestDue } from '../handlers/oldest-due';

export function HandlersInTrouble() {
  const { t } = useTranslation();
  const handlers = useHandlers();
  const late = useCluster().data?.late_handlers_ms ?? {};
  return (
    <Card title={t('overview.handlers')} actions={<TextLink to="/handlers">{t('common.all')}</TextLink>} flush>
      <Loaded query={handlers}>
        {(all) => {
          const worst = all
            .map((handler) => ({ handler, trouble: troubleOf(handler, late[handler.name] ?? 0) }))
            .sort((a, b) => b.trouble - a.trouble || b.handler.live - a.handler.live)
            .slice(0, 5);
          if (worst.length === 0) return <Empty icon={Boxes} title={t('handlers.none')} />;
          return (
            <table className="table short-names">
              <thead>
                <tr>
                  <th>{t('handlers.name')}</th>
                  <th>{t('handlers.status')}</th>
                  <th className="number">{t('handlers.live')}</th>
                  <th className="number">{t('handlers.oldest')}</th>
                </tr>
              </thead>
              <tbody>
                {worst.map(({ handler }) => (
                  <tr key={handler.name}>
                    <td>
                      <TextLink to={`/handler?name=${encodeURIComponent(handler.name)}`}>
                        <Given text={handler.name} />
                      </TextLink>
                    </td>
                    <td>
                      <HandlerBadge handler={handler} />
                    </td>
                    <td className="number">{short(handler.live)}</td>
                    <td className="number">
                      <OldestDue handler={handler.name} />
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          );
        }}
      </Loaded>
    </Card>
  );
}
