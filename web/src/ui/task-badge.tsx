import { useTranslation } from 'react-i18next';
import type { Task } from '../api/contract';
import { useNow } from './time';
import { Badge, type Tone } from './basics';

export const OUTCOME_TONES: Record<string, Tone> = {
  succeeded: 'ok',
  exhausted: 'bad',
  rejected: 'bad',
  quarantined: 'bad',
  parked: 'warn',
  cancelled: 'quiet',
};

// "late" counts after `grace` of the daemon, as doctor does.
const GRACE_MS = 30_000;

type Shown = Pick<Task, 'state' | 'outcome' | 'next_at' | 'attempts' | 'stage'>;

export function TaskBadge({ task }: { task: Shown }) {
  const { t } = useTranslation();
  const now = useNow();
  if (task.state === 'finished' && task.outcome) {
    return <Badge tone={OUTCOME_TONES[task.outcome] ?? 'quiet'}>{t(`outcome.${task.outcome}`)}</Badge>;
  }
  if (task.state === 'running') return <Badge tone="info">{t('state.running')}</Badge>;
  const late = task.next_at !== undefined && now - Date.parse(task.next_at) > GRACE_MS;
  if (late) return <Badge tone="warn">{t('state.late')}</Badge>;
  if (task.stage !== 'run') return <Badge tone="info">{t('state.callback')}</Badge>;
  return <Badge tone="quiet">{t(task.attempts > 0 ? 'state.retrying' : 'state.pending')}</Badge>;
}
