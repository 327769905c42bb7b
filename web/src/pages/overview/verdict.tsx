// The verdict of `easyretry doctor`: one sentence, and each finding with what to do.
import { ChevronRight, CircleCheck, OctagonAlert, TriangleAlert } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useDoctor } from '../../api/queries';
import type { Doctor, DoctorCheck } from '../../api/contract';
import { TextLink, Ticked } from '../../ui/basics';
import { Card, Loaded } from '../../ui/card';
import { inWords } from './in-words';

// Where a finding can be seen in this page.
const PLACES: Record<string, string> = {
  'late tasks': '/handlers',
  quarantined: '/history?outcome=quarantined',
  handlers: '/handlers',
  paused: '/handlers',
  circuits: '/handlers',
  limits: '/handlers',
  instances: '/instances',
};

export function Verdict() {
  const doctor = useDoctor();
  if (doctor.data) return <Findings doctor={doctor.data} />;
  return (
    <Card className="verdict">
      <Loaded query={doctor}>{() => null}</Loaded>
    </Card>
  );
}

function Findings({ doctor }: { doctor: Doctor }) {
  const { t } = useTranslation();
  const [all, setAll] = useState(false);
  const failed = doctor.checks.filter((each) => each.result === 'fail');
  const warned = doctor.checks.filter((each) => each.result === 'warn');
  const fine = doctor.checks.filter((each) => each.result === 'ok');
  const tone = failed.length ? 'bad' : warned.length ? 'warn' : 'ok';
  const Icon = failed.length ? OctagonAlert : warned.length ? TriangleAlert : CircleCheck;
  const sentence = failed.length
    ? t('overview.failed', { count: failed.length })
    : warned.length
      ? t('overview.warned', { count: warned.length })
      : t('overview.well');
  return (
    <section className={`card verdict ${tone}`} aria-label={t('overview.verdict')}>
      <div className="verdict-head">
        <Icon className="verdict-icon" aria-hidden />
        <h2>{sentence}</h2>
        <button type="button" className="button quiet" aria-expanded={all} onClick={() => setAll(!all)}>
          {t('overview.checks', { count: doctor.checks.length })}
          <ChevronRight className={`icon small ${all ? 'turned' : ''}`} aria-hidden />
        </button>
      </div>
      {(failed.length > 0 || warned.length > 0 || all) && (
        <ul className="findings">
          {[...failed, ...warned, ...(all ? fine : [])].map((check) => (
            <Finding key={check.check} check={check} />
          ))}
        </ul>
      )}
    </section>
  );
}

function Finding({ check }: { check: DoctorCheck }) {
  const { t } = useTranslation();
  const place = PLACES[check.check];
  const words = inWords(check, t);
  return (
    <li className={`finding ${check.result}`}>
      <span className="mark" aria-label={t(`overview.result.${check.result}`)} role="img" />
      <div>
        <p>
          <b>{words.check}</b> <Ticked text={words.what} />
        </p>
        {words.todo && (
          <p className="todo">
            <span className="todo-label">{t('overview.toDo')}</span> <Ticked text={words.todo} />
          </p>
        )}
      </div>
      {place && check.result !== 'ok' && <TextLink to={place}>{t('common.show')}</TextLink>}
    </li>
  );
}
