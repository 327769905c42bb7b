// The keys, as a dialog.
import { useTranslation } from 'react-i18next';
import { Dialog } from '../ui/dialog';
import { PLACES } from './keyboard';

const KEYS = [['j', 'k'], ['Enter'], ['x'], ['/'], ['Esc'], ['?']] as const;

export function KeyboardHelp({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation();
  return (
    <Dialog title={t('keys.title')} onClose={onClose}>
      <dl className="keys">
        {KEYS.map((keys) => (
          <Line key={keys.join()} keys={keys} text={t(`keys.${keys.join('').replace('/', 'slash').replace('?', 'help')}`)} />
        ))}
        {Object.entries(PLACES).map(([key, place]) => (
          <Line key={key} keys={['g', key]} text={t(`nav.${place}`)} />
        ))}
      </dl>
    </Dialog>
  );
}

function Line({ keys, text }: { keys: readonly string[]; text: string }) {
  return (
    <div>
      <dt>
        {keys.map((key) => (
          <kbd key={key}>{key}</kbd>
        ))}
      </dt>
      <dd>{text}</dd>
    </div>
  );
}
