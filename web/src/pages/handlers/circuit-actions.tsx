// Holds a circuit open, ignores it for a while, or ends either, for all instances.
import { RotateCcw, ZapOff, EyeOff } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { api } from '../../api/typed';
import { useChange } from '../../api/use-change';
import type { Circuit } from '../../api/contract';
import { queryClient } from '../../api/queries';
import { useSession } from '../../shell/session';
import { Button } from '../../ui/basics';
import { Problem } from '../../ui/card';
import { Dialog, Field } from '../../ui/dialog';
import { tell, tellError } from '../../ui/toast';

type Order = 'open' | 'ignore';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
// 0: until it is reset, which only `open` may be.
const TIMES: Record<Order, number[]> = { open: [0, 10 * MINUTE, HOUR, 24 * HOUR], ignore: [10 * MINUTE, HOUR, 24 * HOUR] };

function refresh(): void {
  void queryClient.invalidateQueries({ queryKey: ['changing'] });
  void queryClient.invalidateQueries({ queryKey: ['doctor'] });
}

export function CircuitActions({ circuit }: { circuit: Pick<Circuit, 'name' | 'order'> }) {
  const { t } = useTranslation();
  const { may } = useSession();
  const [asking, setAsking] = useState<Order>();
  const reset = useChange({
    mutationFn: () => api.POST('/v1/circuits/{name}/reset', { params: { path: { name: circuit.name } } }),
    onSuccess: () => tell(t('circuits.resetNow', { name: circuit.name })),
    onError: tellError,
    onSettled: refresh,
  });
  if (!may('operate')) return null;
  if (circuit.order) {
    return (
      <Button icon={RotateCcw} busy={reset.isPending} onClick={reset.send}>
        {t('circuits.reset')}
      </Button>
    );
  }
  return (
    <>
      <Button icon={ZapOff} onClick={() => setAsking('open')}>
        {t('circuits.holdOpen')}
      </Button>
      <Button icon={EyeOff} onClick={() => setAsking('ignore')}>
        {t('circuits.ignore')}
      </Button>
      {asking && <OrderDialog name={circuit.name} order={asking} onClose={() => setAsking(undefined)} />}
    </>
  );
}

function OrderDialog({ name, order, onClose }: { name: string; order: Order; onClose: () => void }) {
  const { t } = useTranslation();
  const [why, setWhy] = useState('');
  const [time, setTime] = useState(TIMES[order][0]!);
  const give = useChange({
    mutationFn: async () => {
      const params = { path: { name } };
      if (order === 'ignore') return api.POST('/v1/circuits/{name}/ignore', { params, body: { why: why.trim(), for_ms: time } });
      return api.POST('/v1/circuits/{name}/open', { params, body: { why: why.trim(), ...(time > 0 && { for_ms: time }) } });
    },
    onSuccess: () => {
      tell(t(`circuits.${order}Now`, { name }));
      onClose();
    },
    onSettled: refresh,
  });
  const verb = t(order === 'open' ? 'circuits.holdOpen' : 'circuits.ignore');
  return (
    <Dialog
      title={t(`circuits.${order}Title`, { name })}
      onClose={onClose}
      onSubmit={give.send}
      footer={
        <>
          <Button onClick={onClose}>{t('common.back')}</Button>
          <Button type="submit" kind="primary" busy={give.isPending}>
            {verb}
          </Button>
        </>
      }
    >
      <p>{t(`circuits.${order}About`)}</p>
      <Field label={t('circuits.time')}>
        <select value={time} onChange={(event) => setTime(Number(event.target.value))}>
          {TIMES[order].map((each) => (
            <option key={each} value={each}>
              {each === 0 ? t('circuits.untilReset') : t(`circuits.time${each / MINUTE}`)}
            </option>
          ))}
        </select>
      </Field>
      <Field label={t('handlers.why')} hint={t('handlers.whyHint')}>
        <input maxLength={170} autoFocus value={why} onChange={(event) => setWhy(event.target.value)} />
      </Field>
      {give.isError && <Problem error={give.error} />}
    </Dialog>
  );
}
