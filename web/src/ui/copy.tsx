import { Check, Copy } from 'lucide-react';
import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';

// navigator.clipboard exists only under HTTPS and on localhost; a proxy without TLS has the old way.
async function copy(text: string): Promise<void> {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const area = document.createElement('textarea');
  area.value = text;
  document.body.append(area);
  area.select();
  document.execCommand('copy');
  area.remove();
}

export function CopyButton({ text, label, shown }: { text: string; label: string; shown?: string }) {
  const { t } = useTranslation();
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), 1500);
    return () => clearTimeout(timer);
  }, [copied]);
  const Icon = copied ? Check : Copy;
  return (
    <button
      type="button"
      className={`copy ${shown ? 'button plain' : ''}`}
      aria-label={copied ? t('common.copied') : label}
      title={label}
      onClick={(event) => {
        event.stopPropagation();
        void copy(text).then(() => setCopied(true));
      }}
    >
      <Icon className="icon" aria-hidden />
      {shown}
    </button>
  );
}
