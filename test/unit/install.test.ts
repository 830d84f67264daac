import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { whatIsMissing } from '../../scripts/install.mjs';

type Entry = { version?: string; integrity?: string; dev?: boolean; optional?: boolean; link?: boolean };

const wanted: Record<string, Entry> = {
  '': {},
  'packages/own': { version: '0.1.0' },
  'node_modules/own': { link: true },
  'node_modules/a': { version: '1.0.0', integrity: 'sha512-a' },
  'node_modules/tool': { version: '2.0.0', dev: true },
  'node_modules/other-platform': { version: '3.0.0', optional: true },
  [`node_modules/node-${process.platform}-${process.arch}`]: { version: '24.0.0', optional: true },
};

function checkout(installed: Record<string, Entry> | undefined, onDisk = Object.keys(installed ?? {})): string {
  const folder = mkdtempSync('/tmp/parallax-install-');
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(path.join(folder, 'package-lock.json'), JSON.stringify({ packages: wanted }));
  for (const place of onDisk) mkdirSync(path.join(folder, place), { recursive: true });
  mkdirSync(path.join(folder, 'node_modules'), { recursive: true });
  if (installed !== undefined) {
    writeFileSync(path.join(folder, 'node_modules', '.package-lock.json'), JSON.stringify({ packages: installed }));
  }
  return folder;
}

function without(...places: string[]): Record<string, Entry> {
  return Object.fromEntries(
    Object.entries(wanted).filter(([place]) => place.startsWith('node_modules/') && !places.includes(place)),
  );
}

t.test('nothing is missing when all is there, packages for other platforms and of development aside', (t) => {
  t.equal(whatIsMissing(checkout(without())), undefined);
  t.equal(whatIsMissing(checkout(without('node_modules/other-platform'))), undefined);
  t.equal(whatIsMissing(checkout(without('node_modules/tool'))), undefined);
  t.end();
});

t.test('what is absent, of another version, changed or gone from the disk is missing', (t) => {
  const node = `node_modules/node-${process.platform}-${process.arch}`;
  t.equal(whatIsMissing(checkout(undefined)), 'nothing is installed yet');
  t.equal(whatIsMissing(checkout(without('node_modules/a'))), 'node_modules/a is not installed');
  t.equal(whatIsMissing(checkout(without(node))), `${node} is not installed`);
  for (const other of [
    { version: '1.0.1', integrity: 'sha512-a' },
    { version: '1.0.0', integrity: 'sha512-b' },
  ]) {
    t.equal(
      whatIsMissing(checkout({ ...without(), 'node_modules/a': other })),
      'node_modules/a is not the one in the lock file',
    );
  }
  const places = Object.keys(without('node_modules/a'));
  t.equal(whatIsMissing(checkout(without(), places)), 'node_modules/a is gone');
  t.end();
});
