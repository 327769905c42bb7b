// Writes dist/licences.txt: the licence of every package whose code is in the built page.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const modules = join(root, 'node_modules');
const read = (name) => JSON.parse(readFileSync(join(modules, name, 'package.json'), 'utf8'));

const names = new Set();
function add(name) {
  if (names.has(name)) return;
  names.add(name);
  for (const each of Object.keys(read(name).dependencies ?? {})) add(each);
}
Object.keys(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).dependencies).forEach(add);

const parts = [...names].sort().map((name) => {
  const { version, license } = read(name);
  const file = readdirSync(join(modules, name)).find((each) => /^licen[cs]e(\.(md|txt))?$/i.test(each));
  const text = file ? readFileSync(join(modules, name, file), 'utf8').trim() : `Licence: ${license}`;
  return `${name} ${version} (${license})\n\n${text}\n`;
});
writeFileSync(join(root, 'dist/licences.txt'), `${parts.join(`\n${'-'.repeat(80)}\n\n`)}`);
