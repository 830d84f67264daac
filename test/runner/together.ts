// Runs the test files that `PARALLAX_TEST_FILES` lists, as JSON, one after another in this process. Each is a subtest, and sees that subtest where it
// imports tap. They do not stand on the command line: tap makes names of folders out of it.
import { registerHooks } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import t from 'tap';
import './programs-used.ts';
import { runWith } from './tap-of-file.ts';

const standIn = pathToFileURL(path.join(import.meta.dirname, 'tap-of-file.ts')).href;
const timeout = Number(process.env['PARALLAX_TEST_FILE_TIMEOUT']) * 1_000;

registerHooks({
  resolve: (specifier, context, next) => next(specifier === 'tap' ? standIn : specifier, context),
});

for (const file of JSON.parse(process.env['PARALLAX_TEST_FILES'] ?? '[]') as readonly string[]) {
  await t.test(file, { timeout }, async (test) => {
    await runWith(file, test, () => import(pathToFileURL(path.resolve(file)).href));
  });
}
