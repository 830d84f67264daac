// Runs the test files that `PARALLAX_TEST_FILES` lists, as JSON, one after another in this process. Each is a subtest, and sees that subtest where it
// imports tap. They do not stand on the command line: tap makes names of folders out of it.
import { registerHooks } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const standIn = (name: string): string => pathToFileURL(path.join(import.meta.dirname, name)).href;
/** Connections may take so long to close after the last file; a test of the runner waits less. */
const leftOpenMs = Number(process.env['PARALLAX_TEST_LEFT_OPEN_MS'] ?? 20_000);
const timeout = Number(process.env['PARALLAX_TEST_FILE_TIMEOUT']) * 1_000;

// Before tap is loaded, which asks for it.
replace('async-hook-domain', standIn('one-domain.ts'));
const { default: t } = await import('tap');
await import('./programs-used.ts');
const { runWith } = await import('./tap-of-file.ts');
replace('tap', standIn('tap-of-file.ts'));

for (const file of JSON.parse(process.env['PARALLAX_TEST_FILES'] ?? '[]') as readonly string[]) {
  await t.test(file, { timeout }, async (test) => {
    await runWith(file, test, () => import(pathToFileURL(path.resolve(file)).href));
  });
}

// What a file leaves open would keep the process alive for as long as all of its files may take.
setTimeout(() => {
  console.error(
    `all files have ended, and something keeps the process alive: ${process.getActiveResourcesInfo().join(', ')}`,
  );
  process.exit(1);
}, leftOpenMs).unref();

function replace(name: string, by: string): void {
  registerHooks({ resolve: (specifier, context, next) => next(specifier === name ? by : specifier, context) });
}
