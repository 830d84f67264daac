import { chmodSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { findProgram, isProgram, programFolders } from './programs.mjs';

void t.test('the folders of the PATH come first, and the folders of the system follow', async (t) => {
  t.same(programFolders({ PATH: '/opt/own:/usr/bin:relative:' }).slice(0, 3), [
    '/opt/own',
    '/usr/bin',
    '/usr/local/bin',
  ]);
  t.ok(programFolders({ PATH: '/usr/bin/' }).includes('/usr/sbin'), 'an ordinary user has no /usr/sbin on the PATH');
  t.ok(programFolders({}).includes('/usr/sbin'));
  t.ok(programFolders({ PATH: '' }).includes('/usr/sbin'));
});

void t.test('a PATH without a folder of the system counts alone', async (t) => {
  t.same(programFolders({ PATH: '/opt/own:/opt/own/:/opt/other' }), ['/opt/own', '/opt/other']);
});

void t.test('the first folder that has an executable file of the name wins', async (t) => {
  const folder = t.testdir({ first: { tool: 'no program' }, second: { tool: '#!/bin/sh\n' }, third: { tool: '' } });
  const at = (name: string) => path.join(folder, name, 'tool');
  chmodSync(at('first'), 0o644);
  for (const name of ['second', 'third']) chmodSync(at(name), 0o755);
  const folders = ['none', 'first', 'second', 'third'].map((name) => path.join(folder, name));
  t.equal(findProgram('tool', folders), at('second'));
  t.equal(findProgram('no-such-tool', folders), undefined);
  t.equal(isProgram(at('second')), true);
  t.equal(isProgram(at('first')), false);
});
