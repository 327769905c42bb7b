// The routes, and what is around every page.
import { Compass, EyeOff } from 'lucide-react';
import { Component, lazy, Suspense, useCallback, useEffect, useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Route, Router, Switch, useLocation } from 'wouter';
import { loadOtherTexts, useLanguageOfPrefs } from './i18n';
import { useHashPath, useHashSearch } from './lib/location';
import { usePrefs } from './lib/prefs';
import Overview from './pages/overview/overview';
import { useKeyboard } from './shell/keyboard';
import { LiveProvider, useLiveness } from './shell/live';
import { useSession } from './shell/session';
import { Sidebar } from './shell/sidebar';
import { Button, Empty, TextLink } from './ui/basics';
import { Problem, Skeleton } from './ui/card';
import { Toasts } from './ui/toast';

const others = () => Promise.all([import('./pages/others'), loadOtherTexts()]).then(([pages]) => pages);
const Login = lazy(() => others().then((pages) => ({ default: pages.Login })));
const KeyboardHelp = lazy(() => others().then((pages) => ({ default: pages.KeyboardHelp })));
const AccessPage = lazy(() => others().then((pages) => ({ default: pages.AccessPage })));
const AlertsPage = lazy(() => others().then((pages) => ({ default: pages.AlertsPage })));
const AuditPage = lazy(() => others().then((pages) => ({ default: pages.AuditPage })));
const BulkPage = lazy(() => others().then((pages) => ({ default: pages.BulkPage })));
const ErrorsPage = lazy(() => others().then((pages) => ({ default: pages.ErrorsPage })));
const EventsPage = lazy(() => others().then((pages) => ({ default: pages.EventsPage })));
const HandlerPage = lazy(() => others().then((pages) => ({ default: pages.HandlerPage })));
const HandlersPage = lazy(() => others().then((pages) => ({ default: pages.HandlersPage })));
const InstancesPage = lazy(() => others().then((pages) => ({ default: pages.InstancesPage })));
const ListPage = lazy(() => others().then((pages) => ({ default: pages.ListPage })));
const SettingsPage = lazy(() => others().then((pages) => ({ default: pages.SettingsPage })));
const TaskPage = lazy(() => others().then((pages) => ({ default: pages.TaskPage })));

export function App() {
  const { status, problem, look, may, logOut } = useSession();
  const { t } = useTranslation();
  const { language } = usePrefs();
  useEffect(() => void useLanguageOfPrefs(), [language]);
  useEffect(() => {
    if (status !== 'unreachable') return;
    const timer = setInterval(() => void look(), 5_000);
    return () => clearInterval(timer);
  }, [status, look]);

  if (status === 'starting') return <Skeleton lines={4} />;
  if (status === 'out') {
    return (
      <Suspense>
        <Login />
      </Suspense>
    );
  }
  if (status === 'unreachable') {
    return (
      <main className="alone">
        <Problem error={problem} onAgain={() => void look()} />
      </main>
    );
  }
  if (status === 'stuck') {
    return (
      <main className="alone">
        <div className="block">
          <Problem error={problem} title={t('login.stuck')} onAgain={() => void logOut()} />
          <Button onClick={() => void look()}>{t('login.stay')}</Button>
        </div>
      </main>
    );
  }
  if (!may('view')) {
    return (
      <main className="alone">
        <Empty icon={EyeOff} title={t('login.noView')}>
          <Button onClick={() => void logOut()}>{t('nav.logOut')}</Button>
        </Empty>
      </main>
    );
  }
  return (
    <Router hook={useHashPath} searchHook={useHashSearch}>
      <LiveProvider active={status === 'in'}>
        <Pages />
        <Suspense>{status === 'expired' && <Login expired />}</Suspense>
        <Toasts />
      </LiveProvider>
    </Router>
  );
}

function Pages() {
  const { t } = useTranslation();
  const { namespace, me } = useSession();
  const liveness = useLiveness();
  const [path] = useLocation();
  const [help, setHelp] = useState(false);
  useKeyboard(useCallback(() => setHelp(true), []));
  useEffect(() => {
    window.scrollTo(0, 0);
    document.title = `${t(`nav.${path.split('/')[1] || 'overview'}`, '')} · EasyRetry`.replace(/^ · /, '');
  }, [path, t]);
  return (
    <div className="shell">
      <a
        className="skip"
        href="#content"
        onClick={(event) => (event.preventDefault(), document.getElementById('content')?.focus())}
      >
        {t('nav.skip')}
      </a>
      <Sidebar />
      <main id="content" tabIndex={-1} key={`${namespace} ${me?.name} ${me?.role}`}>
        {liveness === 'offline' && (
          <p className="problem" role="alert">
            {t('live.offlineText')}
          </p>
        )}
        <Boundary key={path}>
          <Suspense fallback={<Skeleton lines={8} />}>
            <Switch>
              <Route path="/" component={Overview} />
              <Route path="/tasks">
                <ListPage kind="tasks" />
              </Route>
              <Route path="/history">
                <ListPage kind="history" />
              </Route>
              <Route path="/task/:id">{({ id }) => <TaskPage key={id} id={id} />}</Route>
              <Route path="/errors" component={ErrorsPage} />
              <Route path="/handlers" component={HandlersPage} />
              <Route path="/handler" component={HandlerPage} />
              <Route path="/instances" component={InstancesPage} />
              <Route path="/bulk" component={BulkPage} />
              <Route path="/events" component={EventsPage} />
              <Route path="/alerts" component={AlertsPage} />
              <Route path="/audit" component={AuditPage} />
              <Route path="/access" component={AccessPage} />
              <Route path="/settings" component={SettingsPage} />
              <Route>
                <Empty icon={Compass} title={t('nav.nowhere')}>
                  <TextLink to="/">{t('nav.overview')}</TextLink>
                </Empty>
              </Route>
            </Switch>
          </Suspense>
        </Boundary>
      </main>
      <Suspense>{help && <KeyboardHelp onClose={() => setHelp(false)} />}</Suspense>
    </div>
  );
}

// A page that breaks, or whose file is gone after an update of the daemon, leaves the navigation alive.
class Boundary extends Component<{ children: ReactNode }, { error: unknown }> {
  override state = { error: undefined as unknown };
  static getDerivedStateFromError(error: unknown) {
    return { error };
  }
  override render() {
    if (this.state.error === undefined) return this.props.children;
    return <Problem error={this.state.error} onAgain={() => window.location.reload()} />;
  }
}
