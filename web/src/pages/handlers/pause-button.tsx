// Pauses or resumes a handler, for all instances.
import { Pause, Play } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { api } from '../../api/typed';
import { useChange } from '../../api/use-change';
import type { Handler } from '../../api/contract';
import { queryClient } from '../../api/queries';
import { useSession } from '../../shell/session';
import { Button } from '../../ui/basics';
import { Problem } from '../../ui/card';
import { Dialog, Field } from '../../ui/dialog';
import { tell, tellError } from '../../ui/toast';

function refresh(): void {
  void queryClient.invalidateQueries({ queryKey: ['changing'] });
  void queryClient.invalidateQueries({ queryKey: ['doctor'] });
}

export function PauseButton({ handler }: { handler: Pick<Handler, 'name' | 'paused' | 'live'> }) {
  const { t } = useTranslation();
  const { may } = useSession();
  const [asking, setAsking] = useState(false);
  const resume = useChange({
    mutationFn: () => api.POST('/v1/handlers/{name}/resume', { params: { path: { name: handler.name } } }),
    onSuccess: () => tell(t('handlers.resumed', { name: handler.name })),
    onError: tellError,
    onSettled: refresh,
  });
  if (!may('operate')) return null;
  if (handler.paused) {
    return (
      <Button icon={Play} busy={resume.isPending} onClick={resume.send}>
        {t('handlers.resume')}
      </Button>
    );
  }
  return (
    <>
      <Button icon={Pause} onClick={() => setAsking(true)}>
        {t('handlers.pause')}
      </Button>
      {asking && <PauseDialog name={handler.name} onClose={() => setAsking(false)} />}
    </>
  );
}

function PauseDialog({ name, onClose }: { name: string; onClose: () => void }) {
  const { t } = useTranslation();
  const [why, setWhy] = useState('');
  const pause = useChange({
    mutationFn: () => api.POST('/v1/handlers/{name}/pause', { params: { path: { name } }, body: { why: why.trim() } }),
    onSuccess: () => {
      tell(t('handlers.pausedNow', { name }));
      onClose();
    },
    onSettled: refresh,
  });
  return (
    <Dialog
      title={t('handlers.pauseTitle', { name })}
      onClose={onClose}
      onSubmit={pause.send}
      footer={
        <>
          <Button onClick={onClose}>{t('common.back')}</Button>
          <Button type="submit" kind="primary" busy={pause.isPending}>
            {t('handlers.pause')}
          </Button>
        </>
      }
    >
      <p>{t('handlers.pauseAbout')}</p>
      <Field label={t('handlers.why')} hint={t('handlers.whyHint')}>
        <input maxLength={200} autoFocus value={why} onChange={(event) => setWhy(event.target.value)} />
      </Field>
      {pause.isError && <Problem error={pause.error} />}
    </Dialog>
  );
}
