// Is it well, what is wrong, and what to do about it.
import { useTranslation } from 'react-i18next';
import { PageHead } from '../../ui/basics';
import { SeriesCharts } from '../../ui/series-charts';
import { Figures } from './figures';
import { HandlersInTrouble } from './handlers-in-trouble';
import { FirstSteps } from './first-steps';
import { LatestErrors } from './latest-errors';
import { Verdict } from './verdict';
import { useHandlers } from '../../api/queries';

export default function Overview() {
  const { t } = useTranslation();
  const handlers = useHandlers();
  const untouched = handlers.data?.length === 0;
  return (
    <>
      <PageHead title={t('overview.title')} />
      <Verdict />
      {untouched && <FirstSteps />}
      <Figures />
      <SeriesCharts />
      {!untouched && (
        <div className="two-columns">
          <HandlersInTrouble />
          <LatestErrors />
        </div>
      )}
    </>
  );
}
