import { useTranslation } from 'react-i18next';
import type { TaskClass } from '../lib/classes';

// The class of a task. Most are normal: that one stays in the background.
export function ClassText({ of }: { of: TaskClass }) {
  const { t } = useTranslation();
  return <span className={of === 'normal' ? 'quiet-text' : `class-mark ${of}`}>{t(`class.${of}`)}</span>;
}
