// The keys, as a dialog.
import { useTranslation } from 'react-i18next';
import { Dialog } from '../ui/dialog';
import { PLACES } from './keyboard';
import { useSession } from './session';

const KEYS = [['j', 'k'], ['Enter'], ['x'], ['/'], ['Esc'], ['?']] as const;

export function KeyboardHelp({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation();
  const { may } = useSession();
  // What the page behind has: rows, boxes to select them, a field to search.
  const has = (selector: string) => document.querySelector(`main ${selector}`) !== null;
  const works: Record<string, string> = { j: '[data-row]', Enter: '[data-row]', x: '[data-row] input[type=checkbox]', '/': '[data-search]' };
  const shown = KEYS.filter(([key]) => !works[key] || has(works[key]));
  const places = Object.entries(PLACES).filter(([, place]) => place !== 'audit' || may('administer'));
  return (
    <Dialog title={t('keys.title')} onClose={onClose}>
      <dl className="keys">
        {shown.map((keys) => (
          <Line key={keys.join()} keys={keys} text={t(`keys.${keys.join('').replace('/', 'slash').replace('?', 'help')}`)} />
        ))}
        {places.map(([key, place]) => (
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
