// All pages but the first, and the log in: one file, loaded when one of them is opened.
import '../styles/lists.css';
import '../styles/task.css';
import '../styles/pages.css';
export { default as AccessPage } from './access/access-page';
export { default as AlertsPage } from './alerts/alerts-page';
export { default as AuditPage } from './audit/audit-page';
export { default as BulkPage } from './bulk/bulk-page';
export { default as ErrorsPage } from './errors/errors-page';
export { default as EventsPage } from './events/events-page';
export { default as HandlerPage } from './handlers/handler-page';
export { default as HandlersPage } from './handlers/handlers-page';
export { default as InstancesPage } from './instances/instances-page';
export { default as ListPage } from './tasks/list-page';
export { default as SettingsPage } from './settings/settings-page';
export { default as TaskPage } from './task/task-page';
export { KeyboardHelp } from '../shell/keyboard-help';
export { Login } from '../shell/login';
