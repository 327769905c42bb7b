import { useTranslation } from 'react-i18next';
import type { Handler } from '../../api/contract';
import { Badge } from '../../ui/basics';

export function HandlerBadge({ handler }: { handler: Handler }) {
  const { t } = useTranslation();
  if (handler.paused) return <Badge tone="warn">{t('handlers.paused')}</Badge>;
  if (handler.served) return <Badge tone="ok">{t('handlers.served')}</Badge>;
  if (handler.live === 0) return <Badge tone="quiet">{t('handlers.idle')}</Badge>;
  return <Badge tone="bad">{t('handlers.unserved')}</Badge>;
}
