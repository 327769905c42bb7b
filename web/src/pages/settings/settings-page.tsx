// Settings of this browser, and what the daemon is.
import { useTranslation } from 'react-i18next';
import { PAGE_SIZES, setPrefs, usePrefs, zoneName, type Prefs } from '../../lib/prefs';
import { clockError, duration } from '../../lib/time';
import { useSession } from '../../shell/session';
import { Given, PageHead, Segments } from '../../ui/basics';
import { Card } from '../../ui/card';
import { Field } from '../../ui/dialog';

export default function SettingsPage() {
  const { t } = useTranslation();
  const prefs = usePrefs();
  const zones = ['UTC', ...Intl.supportedValuesOf('timeZone').filter((zone) => zone !== 'UTC')];
  return (
    <>
      <PageHead title={t('settings.title')} lead={t('settings.lead')} />
      <div className="two-columns">
        <Card title={t('settings.look')}>
          <div className="setting">
            <span className="label">{t('settings.language')}</span>
            <Segments<Prefs['language']>
              label={t('settings.language')}
              value={prefs.language}
              options={[
                { value: 'auto', text: t('settings.auto') },
                { value: 'en', text: 'English' },
                { value: 'zh', text: '简体中文' },
              ]}
              onChange={(language) => setPrefs({ language })}
            />
          </div>
          <div className="setting">
            <span className="label">{t('settings.theme')}</span>
            <Segments<Prefs['theme']>
              label={t('settings.theme')}
              value={prefs.theme}
              options={[
                { value: 'system', text: t('settings.system') },
                { value: 'light', text: t('settings.light') },
                { value: 'dark', text: t('settings.dark') },
              ]}
              onChange={(theme) => setPrefs({ theme })}
            />
          </div>
          <Field label={t('settings.zone')}>
            <select value={prefs.zone} onChange={(event) => setPrefs({ zone: event.target.value })}>
              <option value="local">{t('settings.local', { zone: zoneName('local') })}</option>
              {zones.map((zone) => (
                <option key={zone}>{zone}</option>
              ))}
            </select>
          </Field>
          <Field label={t('settings.pageSize')}>
            <select value={prefs.pageSize} onChange={(event) => setPrefs({ pageSize: Number(event.target.value) })}>
              {PAGE_SIZES.map((size) => (
                <option key={size} value={size}>
                  {size}
                </option>
              ))}
            </select>
          </Field>
        </Card>
        <About />
      </div>
    </>
  );
}

function About() {
  const { t } = useTranslation();
  const { me } = useSession();
  const off = clockError();
  return (
    <Card title={t('settings.daemon')}>
      <dl className="facts">
        <dt>{t('settings.version')}</dt>
        <dd>{me?.version ?? '–'}</dd>
        <dt>{t('settings.store')}</dt>
        <dd>
          <Given text={me?.store ?? '–'} className="mono" />
        </dd>
        <dt>{t('settings.durability')}</dt>
        <dd>{me?.durability ?? '–'}</dd>
        {off !== 0 && (
          <>
            <dt>{t('settings.clock')}</dt>
            <dd className="warn-text">{t(off > 0 ? 'settings.behind' : 'settings.ahead', { time: duration(Math.abs(off)) })}</dd>
          </>
        )}
      </dl>
    </Card>
  );
}
