// Navigation, namespace, and who is logged in. Below 900 px it is a bar with a menu.
import {
  Activity,
  Bell,
  Boxes,
  CircleAlert,
  History,
  Layers,
  ListChecks,
  LogOut,
  Menu,
  Network,
  Radio,
  ScrollText,
  Settings,
  ShieldCheck,
  type LucideIcon,
} from 'lucide-react';
import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Link, useLocation } from 'wouter';
import { useNamespaces } from '../api/queries';
import { Given } from '../ui/basics';
import { useLiveness } from './live';
import { useSession, type Right } from './session';
import logo from '../icon.svg';

interface Place {
  to: string;
  name: string;
  icon: LucideIcon;
  also?: string;
  needs?: Right;
}

const PLACES: Place[] = [
  { to: '/', name: 'overview', icon: Activity },
  { to: '/tasks', name: 'tasks', icon: ListChecks, also: '/task/' },
  { to: '/history', name: 'history', icon: History },
  { to: '/errors', name: 'errors', icon: CircleAlert },
  { to: '/handlers', name: 'handlers', icon: Boxes, also: '/handler' },
  { to: '/instances', name: 'instances', icon: Network },
  { to: '/bulk', name: 'bulk', icon: Layers },
  { to: '/events', name: 'events', icon: Radio },
  { to: '/alerts', name: 'alerts', icon: Bell },
  { to: '/audit', name: 'audit', icon: ScrollText, needs: 'administer' },
  { to: '/access', name: 'access', icon: ShieldCheck },
  { to: '/settings', name: 'settings', icon: Settings },
];

export function Sidebar() {
  const { t } = useTranslation();
  const { may } = useSession();
  const [path] = useLocation();
  const [open, setOpen] = useState(false);
  useEffect(() => setOpen(false), [path]);
  return (
    <header className={`sidebar ${open ? 'open' : ''}`}>
      <div className="brand">
        <img src={logo} alt="" width="22" height="22" />
        <span>EasyRetry</span>
        <Liveness />
        <button
          type="button"
          className="button quiet bare menu"
          aria-expanded={open}
          aria-label={t('nav.menu')}
          onClick={() => setOpen(!open)}
        >
          <Menu className="icon" aria-hidden />
        </button>
      </div>
      <div className="sidebar-body">
        <NamespaceChoice />
        <nav aria-label={t('nav.pages')}>
          {PLACES.filter(({ needs }) => !needs || may(needs)).map(({ to, name, icon: Icon, also }) => {
            const here = path === to || (also !== undefined && path.startsWith(also));
            return (
              <Link key={to} href={to} className="place" aria-current={here ? 'page' : undefined}>
                <Icon className="icon" aria-hidden />
                {t(`nav.${name}`)}
              </Link>
            );
          })}
        </nav>
        <Self />
      </div>
    </header>
  );
}

function Liveness() {
  const { t } = useTranslation();
  const how = useLiveness();
  return (
    <span className={`liveness ${how}`} role="status" title={t(`live.${how}Text`)}>
      <span className="dot" aria-hidden />
      {t(`live.${how}`)}
    </span>
  );
}

const DEFAULT = 'default'; // the namespace of requests that name none, unless the configuration gives it another name

function NamespaceChoice() {
  const { t } = useTranslation();
  const { me, namespace, chooseNamespace } = useSession();
  const everywhere = me?.namespaces === '*';
  const all = useNamespaces(everywhere).data;
  if (!everywhere) return <p className="namespace">{Array.isArray(me?.namespaces) && <Given text={me.namespaces.join(', ')} />}</p>;
  if (!all || all.length < 2) return null;
  return (
    <label className="namespace">
      <span className="unseen">{t('task.namespace')}</span>
      <select value={namespace === DEFAULT ? '' : namespace} onChange={(event) => chooseNamespace(event.target.value)}>
        <option value="">{t('nav.defaultNamespace')}</option>
        {all
          .filter((name) => name !== DEFAULT)
          .map((name) => (
            <option key={name}>{name}</option>
          ))}
      </select>
    </label>
  );
}

function Self() {
  const { t } = useTranslation();
  const { me, logOut } = useSession();
  return (
    <div className="self">
      <div>
        <Given text={me?.name ?? ''} className="strong" />
        <span className="quiet-text">{me?.role}</span>
      </div>
      <button
        type="button"
        className="button quiet bare"
        aria-label={t('nav.logOut')}
        title={t('nav.logOut')}
        onClick={() => void logOut()}
      >
        <LogOut className="icon" aria-hidden />
      </button>
    </div>
  );
}
