// Serves a folder with a built page in front of a daemon, whose API it passes on: so a page can be tested that is not in
// the program yet. Answers to pages have the headers of the daemon's own page, its Content-Security-Policy among them.
import { readFile } from 'node:fs/promises';
import { createServer, request as ask } from 'node:http';
import { extname, join, normalize } from 'node:path';

const TYPES = { '.html': 'text/html; charset=utf-8', '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml' };

// The daemon answers only pages of its own, so its address replaces that of this server.
function pass(url, request, response) {
  const headers = { ...request.headers, host: new URL(url).host };
  if (headers.origin) headers.origin = url;
  const passed = ask(url + request.url, { method: request.method, headers }, (answer) => {
    response.writeHead(answer.statusCode, answer.headers);
    response.flushHeaders(); // a stream of events begins before its first event
    answer.on('error', () => response.destroy()).pipe(response);
  });
  passed.on('error', () => response.destroy());
  response.on('close', () => passed.destroy());
  request.pipe(passed);
}

async function send(url, folder, path, response) {
  const file = await readFile(join(folder, normalize(path === '/' ? '/index.html' : path))).catch(() => undefined);
  const page = await fetch(url).catch(() => undefined);
  const policy = page?.headers.get('content-security-policy');
  const type = TYPES[extname(path === '/' ? 'index.html' : path)] ?? 'application/octet-stream';
  response.writeHead(file ? 200 : 404, { 'Content-Type': type, ...(policy && { 'Content-Security-Policy': policy }) }).end(file);
}

// Resolves with the address, and a function that ends it.
export function serveFolder(folder, url) {
  const server = createServer((request, response) => {
    const path = new URL(request.url, url).pathname;
    if (/^\/(v1|metrics|readyz)(\/|$)/.test(path)) pass(url, request, response);
    else void send(url, folder, path, response);
  });
  return new Promise((resolve) =>
    server.listen(0, '127.0.0.1', () =>
      resolve({
        url: `http://127.0.0.1:${server.address().port}`,
        end: () => {
          server.closeAllConnections();
          server.close();
        },
      }),
    ),
  );
}
