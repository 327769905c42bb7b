// The smallest parts: buttons, badges, texts of tasks, empty states.
import { LoaderCircle, type LucideIcon } from 'lucide-react';
import type { ButtonHTMLAttributes, ReactNode } from 'react';
import { Link } from 'wouter';

interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  kind?: 'plain' | 'primary' | 'danger' | 'quiet';
  icon?: LucideIcon;
  busy?: boolean;
}

export function Button({ kind = 'plain', icon: Icon, busy = false, children, className = '', disabled, ...rest }: ButtonProps) {
  return (
    <button type="button" className={`button ${kind} ${children ? '' : 'bare'} ${className}`} disabled={disabled || busy} {...rest}>
      {busy ? <LoaderCircle className="icon spin" aria-hidden /> : Icon && <Icon className="icon" aria-hidden />}
      {children}
    </button>
  );
}

export type Tone = 'ok' | 'warn' | 'bad' | 'info' | 'quiet';

export function Badge({ tone, children, title }: { tone: Tone; children: ReactNode; title?: string }) {
  return (
    <span className={`badge ${tone}`} title={title}>
      <span className="dot" aria-hidden />
      {children}
    </span>
  );
}

// A text that a user of the engine chose: a key, a handler, an error. Always a text node; bdi keeps a right-to-left text
// from turning the sentence around it.
export function Given({ text, className = '' }: { text: string; className?: string }) {
  return (
    <bdi className={`given ${className}`} title={text.length > 24 ? text.slice(0, 2000) : undefined}>
      {text}
    </bdi>
  );
}

// A sentence of the daemon, whose `commands` stand in backticks.
export function Ticked({ text }: { text: string }) {
  return <>{text.split('`').map((part, i) => (i % 2 ? <code key={i}>{part}</code> : <span key={i}>{part}</span>))}</>;
}

export function TextLink({ to, children, className = '' }: { to: string; children: ReactNode; className?: string }) {
  return (
    <Link href={to} className={`link ${className}`}>
      {children}
    </Link>
  );
}

export function Empty({ icon: Icon, title, children }: { icon: LucideIcon; title: string; children?: ReactNode }) {
  return (
    <div className="empty">
      <Icon className="empty-icon" aria-hidden />
      <p className="empty-title">{title}</p>
      {children}
    </div>
  );
}

export function PageHead({ title, children, lead }: { title: ReactNode; children?: ReactNode; lead?: ReactNode }) {
  return (
    <header className="page-head">
      <div>
        <h1>{title}</h1>
        {lead && <p className="lead">{lead}</p>}
      </div>
      <div className="actions">{children}</div>
    </header>
  );
}

// One of a few values, as buttons side by side.
export function Segments<T extends string>(props: {
  label: string;
  value: T;
  options: readonly { value: T; text: string }[];
  onChange: (value: T) => void;
}) {
  return (
    <div className="segments" role="group" aria-label={props.label}>
      {props.options.map(({ value, text }) => (
        <button type="button" key={value} aria-pressed={value === props.value} onClick={() => props.onChange(value)}>
          {text}
        </button>
      ))}
    </div>
  );
}
