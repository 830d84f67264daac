// Runs test files one after another in this process: `node together.ts FILE…`. Each is a subtest, and sees that subtest where it imports tap.
import { registerHooks } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import t from 'tap';
import { runWith } from './tap-of-file.ts';

const standIn = pathToFileURL(path.join(import.meta.dirname, 'tap-of-file.ts')).href;
const own = [standIn, import.meta.url];
const timeout = Number(process.env['PARALLAX_TEST_FILE_TIMEOUT']) * 1_000;

registerHooks({
  resolve: (specifier, context, next) =>
    specifier === 'tap' && !own.includes(context.parentURL ?? '') ? next(standIn, context) : next(specifier, context),
});

for (const file of process.argv.slice(2)) {
  await t.test(file, { timeout }, async (test) => {
    await runWith(test, () => import(pathToFileURL(path.resolve(file)).href));
  });
}
