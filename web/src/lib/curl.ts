// A request of this page as a command for a terminal. The token is a variable: the page never has it.

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

export function curl(method: string, path: string, body?: unknown, namespace = ''): string {
  const base = typeof window === 'undefined' ? 'http://127.0.0.1:7077' : new URL('.', window.location.href).href.replace(/\/$/, '');
  const parts = ['curl -s', '-H "Authorization: Bearer $EASYRETRY_TOKEN"'];
  if (namespace) parts.push(`-H ${quoted(`easyretry-namespace: ${namespace}`)}`);
  if (method !== 'GET') parts.push(`-X ${method}`);
  if (body !== undefined) parts.push(`-d ${quoted(JSON.stringify(body))}`);
  parts.push(quoted(base + path));
  return parts.join(' ');
}
