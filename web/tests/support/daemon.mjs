// A real daemon in a folder of its own, for the browser tests and the screenshots.
//   EASYRETRY_PROGRAM   the program (build/dev/easyretry)
//   EASYRETRY_POSTGRES  the folder of a server that tests/support/servers.py has started: there each daemon has a database of
//                       its own, instead of sqlite:retry.db
//   EASYRETRY_DIST      a folder with a built page, to be tested instead of the one in the program
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { serveFolder } from './front.mjs';

const web = fileURLToPath(new URL('../..', import.meta.url));
export const program = process.env.EASYRETRY_PROGRAM ?? join(web, '../build/dev/easyretry');

// The daemon refuses variables that begin like its own and are not known to it.
const environment = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('EASYRETRY_')));

function sql(url, text) {
  execFileSync('psql', ['--no-psqlrc', '--quiet', url, '--command', text], { stdio: ['ignore', 'ignore', 'inherit'] });
}

// A new database on the server in `folder`: its URL, and how to remove it.
function newDatabase(folder) {
  const tool = join(web, '../tests/support/servers.py');
  const server = execFileSync('python3', [tool, 'url', '--folder', folder], { encoding: 'utf8' }).trim();
  const name = `web_${process.pid}_${Date.now()}`;
  sql(server, `CREATE DATABASE ${name}`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  return { url: url.href, remove: () => sql(server, `DROP DATABASE ${name} WITH (FORCE)`) };
}

function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

async function answers(url) {
  for (let tries = 0; tries < 200; tries++) {
    const answer = await fetch(url).catch(() => undefined);
    if (answer?.ok) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`${url} does not answer`);
}

// A chat room: accepts every message.
function openRoom() {
  return new Promise((resolve) => {
    const room = createHttpServer((request, response) => request.resume().on('end', () => response.end('ok')));
    room.unref().listen(0, '127.0.0.1', () => resolve(room));
  });
}

// Alerts to a room that accepts them, and to one that does not answer.
function configuration(room) {
  return `
server:
  namespaces: [shop]
  may_call: [127.0.0.1]
alerts:
  channels:
    ops: {type: slack, url: 'http://127.0.0.1:${room.address().port}/services/T000/B000/secret-canary', per_minute: 600}
    oncall: {type: slack, url: 'http://127.0.0.1:1/services/T000/B000/secret-canary', per_minute: 600}
  rules:
    payments: {handlers: [payment.*], channels: [ops], final_failures: 1, backlog_age: 10m, wait: 0s, window: 1h}
    storms: {channels: [ops, oncall], final_failures: 20, failure_rate: 50%}
    outages: {handlers: [guarded.*], channels: [ops], circuit_open: 1h}
handlers:
  guarded.pay: {circuit: {name: gateway}}
  budgeted.pay: {backoff: 'fixed delay=1ms', circuit: {name: bank, probes: 0.01, retries_at_most: 0}}
  limited.report: {limit: {running: 1, per_second: 2.5}}
  kept.result: {keep_results: 1h}
`;
}

function ended(child) {
  return new Promise((resolve) => (child.exitCode !== null || child.signalCode ? resolve() : child.once('exit', resolve)));
}

export class Daemon {
  tokens = new Map(); // by name; those that tokenFor() has made

  static async start() {
    const daemon = new Daemon();
    daemon.folder = mkdtempSync(join(tmpdir(), 'easyretry-web-'));
    daemon.port = await freePort();
    daemon.url = `http://127.0.0.1:${daemon.port}`;
    daemon.database = process.env.EASYRETRY_POSTGRES && newDatabase(process.env.EASYRETRY_POSTGRES);
    daemon.room = await openRoom();
    writeFileSync(join(daemon.folder, 'easyretry.yaml'), configuration(daemon.room));
    await daemon.run();
    daemon.token = readFileSync(join(daemon.folder, 'easyretry.tokens.first'), 'utf8').trim();
    daemon.front = process.env.EASYRETRY_DIST && (await serveFolder(process.env.EASYRETRY_DIST, daemon.url));
    daemon.page = daemon.front?.url ?? daemon.url;
    return daemon;
  }

  async run() {
    const store = this.database ? ['--store', this.database.url] : [];
    this.process = spawn(program, ['serve', '--listen', `127.0.0.1:${this.port}`, ...store], {
      cwd: this.folder,
      env: environment,
      stdio: 'ignore',
    });
    await answers(`${this.url}/readyz`);
  }

  async stop() {
    this.process.kill('SIGTERM');
    await ended(this.process);
  }

  async end() {
    await this.stop();
    this.front?.end();
    this.room.close();
    this.database?.remove();
    rmSync(this.folder, { recursive: true, force: true });
  }

  // A token with another role, the same for all tests.
  tokenFor(role, namespace = '*') {
    const name = `${role.replace('+', '-')}-${namespace === '*' ? 'all' : namespace}`;
    const known = this.tokens.get(name);
    if (known) return known;
    const printed = execFileSync(program, ['token', 'create', name, '--role', role, '--namespace', namespace], {
      cwd: this.folder,
      env: environment,
      encoding: 'utf8',
    });
    const [token] = /er_\S+/.exec(printed);
    this.tokens.set(name, token);
    return token;
  }

  async call(method, path, body, headers = {}) {
    const answer = await fetch(this.url + path, {
      method,
      headers: { Authorization: `Bearer ${this.token}`, 'Content-Type': 'application/json', ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return JSON.parse(text);
  }

  submit(task) {
    return this.call('POST', '/v1/tasks', task);
  }

  // Fetches due tasks of `handler` and settles each with what `judge` says: undefined is success, else an error.
  async work(handler, judge, max = 100) {
    const { tasks } = await this.call('POST', '/v1/leases', { handlers: [handler], max, wait_ms: 1000 });
    for (const task of tasks) {
      const failure = judge(task);
      const body = { version: task.version, ...failure };
      await this.call('POST', `/v1/leases/${task.id}/${failure ? 'fail' : 'done'}`, body);
    }
    return tasks.length;
  }
}
