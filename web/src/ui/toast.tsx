// Short messages after an action, read out by screen readers.
import { CircleCheck, TriangleAlert, X } from 'lucide-react';
import { useEffect, useSyncExternalStore } from 'react';
import { useTranslation } from 'react-i18next';
import { ApiError } from '../api/client';
import { hintOf, said } from './said';

interface Toast {
  id: number;
  tone: 'ok' | 'bad';
  text?: string;
  error?: unknown; // instead of a text
}

let toasts: Toast[] = [];
let nextId = 1;
const listeners = new Set<() => void>();

function set(changed: Toast[]): void {
  toasts = changed;
  for (const listener of listeners) listener();
}

export function tell(text: string): void {
  set([...toasts.slice(-2), { id: nextId++, tone: 'ok', text }]);
}

export function tellError(error: unknown): void {
  set([...toasts.slice(-2), { id: nextId++, tone: 'bad', error }]);
}

export function Toasts() {
  const shown = useSyncExternalStore(
    (changed) => {
      listeners.add(changed);
      return () => listeners.delete(changed);
    },
    () => toasts,
  );
  return (
    <div className="toasts" role="status" aria-live="polite">
      {shown.map((toast) => (
        <ToastView key={toast.id} toast={toast} />
      ))}
    </div>
  );
}

function ToastView({ toast }: { toast: Toast }) {
  const { t } = useTranslation();
  const close = () => set(toasts.filter((each) => each.id !== toast.id));
  useEffect(() => {
    if (toast.tone === 'bad') return; // an error stays until it is read
    const timer = setTimeout(close, 5000);
    return () => clearTimeout(timer);
  }, [toast]);
  const problem = toast.error instanceof ApiError ? toast.error : undefined;
  const detail = [problem && hintOf(problem, t), problem?.requestId && `${t('common.request')} ${problem.requestId}`].filter(Boolean).join(' · ');
  const Icon = toast.tone === 'ok' ? CircleCheck : TriangleAlert;
  return (
    <div className={`toast ${toast.tone}`}>
      <Icon className="icon" aria-hidden />
      <div>
        <p>{toast.text ?? said(toast.error, t)}</p>
        {detail && <p className="hint">{detail}</p>}
      </div>
      <button type="button" className="button quiet bare" aria-label={t('common.close')} onClick={close}>
        <X className="icon" aria-hidden />
      </button>
    </div>
  );
}
