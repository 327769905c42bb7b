// A button that opens a panel below it. Closes on Esc, on a click elsewhere, and when the focus leaves.
import { ChevronDown, type LucideIcon } from 'lucide-react';
import { useEffect, useRef, useState, type ReactNode } from 'react';

export function Dropdown(props: {
  text: string;
  icon?: LucideIcon;
  align?: 'start' | 'end';
  children: (close: () => void) => ReactNode;
}) {
  const [open, setOpen] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  const trigger = useRef<HTMLButtonElement>(null);
  const Icon = props.icon;

  useEffect(() => {
    if (!open) return;
    const outside = (event: MouseEvent | FocusEvent) => {
      if (!root.current?.contains(event.target as Node)) setOpen(false);
    };
    document.addEventListener('mousedown', outside);
    document.addEventListener('focusin', outside);
    return () => {
      document.removeEventListener('mousedown', outside);
      document.removeEventListener('focusin', outside);
    };
  }, [open]);

  return (
    <div
      className="dropdown"
      ref={root}
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || !open) return;
        event.stopPropagation();
        setOpen(false);
        trigger.current?.focus();
      }}
    >
      <button type="button" ref={trigger} className="button plain" aria-expanded={open} onClick={() => setOpen(!open)}>
        {Icon && <Icon className="icon" aria-hidden />}
        {props.text}
        <ChevronDown className="icon small" aria-hidden />
      </button>
      {open && <div className={`panel ${props.align ?? 'end'}`}>{props.children(() => setOpen(false))}</div>}
    </div>
  );
}
