// A modal dialog. The browser's own element keeps the focus inside, closes on Esc, and gives the focus back.
import { X } from 'lucide-react';
import { useEffect, useId, useRef, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';

export function Dialog(props: {
  title: string;
  onClose: () => void;
  children: ReactNode;
  footer?: ReactNode;
  onSubmit?: () => void;
  wide?: boolean;
}) {
  const { t } = useTranslation();
  const element = useRef<HTMLDialogElement>(null);
  const title = useId();
  useEffect(() => {
    const dialog = element.current!;
    const before = document.activeElement;
    if (!dialog.open) dialog.showModal();
    return () => {
      dialog.close();
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={element}
      className={props.wide ? 'dialog wide' : 'dialog'}
      aria-labelledby={title}
      onCancel={(event) => {
        event.preventDefault();
        props.onClose();
      }}
      onMouseDown={(event) => {
        if (event.target === element.current) props.onClose();
      }}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          props.onSubmit?.();
        }}
      >
        <header>
          <h2 id={title}>{props.title}</h2>
          <button type="button" className="button quiet bare" aria-label={t('common.close')} onClick={props.onClose}>
            <X className="icon" aria-hidden />
          </button>
        </header>
        <div className="dialog-body">{props.children}</div>
        {props.footer && <footer>{props.footer}</footer>}
      </form>
    </dialog>
  );
}

export function Field({ label, hint, children }: { label: string; hint?: string; children: ReactNode }) {
  return (
    <label className="field">
      <span className="label">{label}</span>
      {children}
      {hint && <span className="hint">{hint}</span>}
    </label>
  );
}
