// Who one is here, what each role may do, and which tokens there are.
import { useTranslation } from 'react-i18next';
import { useTokens } from '../../api/more-queries';
import type { TokenInfo } from '../../api/contract';
import { useSession, type Right } from '../../shell/session';
import { Badge, Given, PageHead } from '../../ui/basics';
import { Time } from '../../ui/time';
import { Card, Loaded } from '../../ui/card';
import { CopyButton } from '../../ui/copy';

const RIGHTS: Right[] = ['view', 'submit', 'work', 'operate', 'payloads', 'administer'];
const COMMANDS = [
  'easyretry token create billing --role submitter --namespace shop',
  'easyretry token list',
  'easyretry token revoke billing',
];

export default function AccessPage() {
  const { t } = useTranslation();
  const { may } = useSession();
  return (
    <>
      <PageHead title={t('access.title')} lead={t('access.lead')} />
      <div className="stack">
        <Self />
        {may('administer') && <Tokens />}
        <Card title={t('access.manage')}>
          <p>{t('access.tokensText')}</p>
          {COMMANDS.map((command) => (
            <pre className="command" key={command} tabIndex={0}>
              {command}
              <CopyButton text={command} label={t('common.copyCommand')} />
            </pre>
          ))}
        </Card>
      </div>
    </>
  );
}

function Self() {
  const { t } = useTranslation();
  const { me, may } = useSession();
  if (!me) return null;
  return (
    <Card title={t('access.you')}>
      <dl className="facts">
        <dt>{t('access.token')}</dt>
        <dd>
          <Given text={me.name} />
        </dd>
        <dt>{t('access.role')}</dt>
        <dd>
          <code>{me.role}</code>
        </dd>
        <dt>{t('access.namespaces')}</dt>
        <dd>{me.namespaces === '*' ? t('access.everywhere') : me.namespaces.join(', ')}</dd>
        <dt>{t('access.rights')}</dt>
        <dd>
          <ul className="rights">
            {RIGHTS.map((right) => (
              <li key={right}>
                <Badge tone={may(right) ? 'ok' : 'quiet'}>
                  {t(`right.${right}`)}
                  {!may(right) && <span className="quiet-text"> · {t('access.no')}</span>}
                </Badge>
              </li>
            ))}
          </ul>
        </dd>
      </dl>
    </Card>
  );
}

function Tokens() {
  const { t } = useTranslation();
  const { me } = useSession();
  const tokens = useTokens(true);
  const where = (token: TokenInfo) => (token.namespaces === '*' ? t('access.everywhere') : token.namespaces.join(', '));
  return (
    <Card title={t('access.tokens')} flush>
      <Loaded query={tokens}>
        {(all) => (
          <div className="table-scroll">
            <table className="table rows" aria-label={t('access.tokens')}>
              <thead>
                <tr>
                  <th>{t('access.token')}</th>
                  <th>{t('access.role')}</th>
                  <th>{t('access.namespaces')}</th>
                  <th>{t('access.lastUsed')}</th>
                </tr>
              </thead>
              <tbody>
                {all.map((token) => (
                  <tr key={token.name} data-row={token.name}>
                    <td className="strong" data-label={t('access.token')}>
                      <div>
                        <Given text={token.name} />
                        {token.name === me?.name && <small>{t('access.you')}</small>}
                      </div>
                    </td>
                    <td data-label={t('access.role')}>
                      <code>{token.role}</code>
                    </td>
                    <td data-label={t('access.namespaces')}>
                      <Given text={where(token)} />
                    </td>
                    <td data-label={t('access.lastUsed')}>
                      {token.last_used ? <Time at={token.last_used} /> : <span className="quiet-text">{t('access.unused')}</span>}
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )}
      </Loaded>
    </Card>
  );
}
