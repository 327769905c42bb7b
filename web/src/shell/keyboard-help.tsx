// The keys, as a dialog.
import { useTranslation } from 'react-i18next';
import { Dialog } from '../ui/dialog';

const KEYS = [['j', 'k'], ['Enter'], ['x'], ['/'], ['g', 'o'], ['g', 't'], ['g', 'h'], ['g', 'e'], ['Esc'], ['?']] as const;

export function KeyboardHelp({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation();
  return (
    <Dialog title={t('keys.title')} onClose={onClose}>
      <dl className="keys">
        {KEYS.map((keys) => (
          <div key={keys.join()}>
            <dt>
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{t(`keys.${keys.join('').replace('/', 'slash').replace('?', 'help')}`)}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
