// Builds the page twice, in other folders, and compares both with the committed web/dist: the same sources give the same
// bytes, and what is committed was built from them.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

function contents(folder) {
  return new Map(
    readdirSync(folder, { withFileTypes: true, recursive: true })
      .filter((entry) => entry.isFile() && entry.name !== 'licences.txt') // written after the build
      .map((entry) => join(entry.parentPath, entry.name))
      .sort()
      .map((file) => [relative(folder, file), readFileSync(file, 'latin1')]),
  );
}

function build() {
  const folder = mkdtempSync(join(tmpdir(), 'easyretry-dist-'));
  try {
    execFileSync(
      process.execPath,
      [join(root, 'node_modules/vite/bin/vite.js'), 'build', '--outDir', folder, '--emptyOutDir', '--logLevel', 'error'],
      { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] },
    );
    return contents(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function differences(one, other) {
  const names = new Set([...one.keys(), ...other.keys()]);
  return [...names].filter((name) => one.get(name) !== other.get(name));
}

const first = build();
const again = differences(first, build());
const committed = differences(first, contents(join(root, 'dist')));
if (again.length) console.error(`two builds differ: ${again.join(', ')}`);
if (committed.length)
  console.error(`web/dist is not what web/src gives: ${committed.join(', ')}; run \`npm run build\` in web, and commit web/dist`);
process.exit(again.length || committed.length ? 1 : 0);
