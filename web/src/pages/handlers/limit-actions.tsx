// Sets a limit of a handler or circuit at run time, or ends it, for all instances.
import { Gauge, RotateCcw } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { api } from '../../api/typed';
import { useChange } from '../../api/use-change';
import { queryClient } from '../../api/queries';
import { useSession } from '../../shell/session';
import { Button } from '../../ui/basics';
import { Problem } from '../../ui/card';
import { Dialog, Field } from '../../ui/dialog';
import { tell, tellError } from '../../ui/toast';

export interface Subject {
  kind: 'handler' | 'circuit';
  name: string;
}

function refresh(): void {
  void queryClient.invalidateQueries({ queryKey: ['changing'] });
  void queryClient.invalidateQueries({ queryKey: ['doctor'] });
}

// Of a number field: what is left empty is not limited.
function numberIn(text: string): number | undefined {
  return text.trim() === '' ? undefined : Number(text);
}

export function SetLimitButton({ subject }: { subject: Subject }) {
  const { t } = useTranslation();
  const { may } = useSession();
  const [asking, setAsking] = useState(false);
  if (!may('operate')) return null;
  return (
    <>
      <Button icon={Gauge} onClick={() => setAsking(true)}>
        {t('limits.set')}
      </Button>
      {asking && <LimitDialog subject={subject} onClose={() => setAsking(false)} />}
    </>
  );
}

export function ResetLimitButton({ subject }: { subject: Subject }) {
  const { t } = useTranslation();
  const { may } = useSession();
  const reset = useChange({
    mutationFn: () => api.POST('/v1/limits/{kind}/{name}/reset', { params: { path: { ...subject } } }),
    onSuccess: () => tell(t('limits.resetNow', { name: subject.name })),
    onError: tellError,
    onSettled: refresh,
  });
  if (!may('operate')) return null;
  return (
    <Button icon={RotateCcw} busy={reset.isPending} onClick={reset.send}>
      {t('limits.reset')}
    </Button>
  );
}

function LimitDialog({ subject, onClose }: { subject: Subject; onClose: () => void }) {
  const { t } = useTranslation();
  const [running, setRunning] = useState('');
  const [perSecond, setPerSecond] = useState('');
  const [burst, setBurst] = useState('');
  const [why, setWhy] = useState('');
  const set = useChange({
    mutationFn: () => {
      const body = { running: numberIn(running) ?? null, per_second: numberIn(perSecond) ?? null, burst: numberIn(burst) ?? null };
      return api.POST('/v1/limits/{kind}/{name}/set', { params: { path: { ...subject } }, body: { ...body, why: why.trim() } });
    },
    onSuccess: () => {
      tell(t('limits.setNow', { name: subject.name }));
      onClose();
    },
    onSettled: refresh,
  });
  return (
    <Dialog
      title={t('limits.setTitle', { name: subject.name })}
      onClose={onClose}
      onSubmit={set.send}
      footer={
        <>
          <Button onClick={onClose}>{t('common.back')}</Button>
          <Button type="submit" kind="primary" busy={set.isPending}>
            {t('limits.set')}
          </Button>
        </>
      }
    >
      <p>{t('limits.setAbout')}</p>
      <Field label={t('limits.running')} hint={t('limits.runningHint')}>
        <input type="number" min={0} max={1_000_000} step={1} autoFocus value={running} onChange={(event) => setRunning(event.target.value)} />
      </Field>
      <Field label={t('limits.perSecond')} hint={t('limits.perSecondHint')}>
        <input type="number" min={0.001} max={1_000_000} step="any" value={perSecond} onChange={(event) => setPerSecond(event.target.value)} />
      </Field>
      <Field label={t('limits.burst')} hint={t('limits.burstHint')}>
        <input type="number" min={1} max={1_000_000} step={1} value={burst} onChange={(event) => setBurst(event.target.value)} />
      </Field>
      <Field label={t('handlers.why')} hint={t('handlers.whyHint')}>
        <input maxLength={150} value={why} onChange={(event) => setWhy(event.target.value)} />
      </Field>
      {set.isError && <Problem error={set.error} />}
    </Dialog>
  );
}
