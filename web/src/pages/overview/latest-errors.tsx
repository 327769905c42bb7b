import { PartyPopper } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { useErrors } from '../../api/queries';
import { short } from '../../lib/numbers';
import { Empty, Given, TextLink } from '../../ui/basics';
import { Card, Loaded } from '../../ui/card';
import { Time } from '../../ui/time';

export function LatestErrors() {
  const { t } = useTranslation();
  const errors = useErrors('history', '', '', 5);
  return (
    <Card title={t('overview.errors')} actions={<TextLink to="/errors">{t('common.all')}</TextLink>} flush>
      <Loaded query={errors}>
        {({ groups }) =>
          groups.length === 0 ? (
            <Empty icon={PartyPopper} title={t('errors.none')} />
          ) : (
            <ul className="error-lines">
              {groups.slice(0, 5).map((group) => (
                <li key={group.fingerprint}>
                  <span className="count">{short(group.count)}</span>
                  <TextLink to={`/errors?open=${encodeURIComponent(group.fingerprint)}`} className="grow">
                    <Given text={group.text} className="one-line mono" />
                  </TextLink>
                  <span className="quiet-text">
                    <Time at={group.last_seen} />
                  </span>
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
    </Card>
  );
}
