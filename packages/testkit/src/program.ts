import path from 'node:path';

const checkout = path.resolve(import.meta.dirname, '../../..');
const bundled = JSON.parse(process.env['PARALLAX_TEST_PROGRAMS'] ?? '{}') as Readonly<Record<string, string>>;

/**
 * The file that a test starts a program of the product by: the test runner has them bundled, as `npm start` does; for a file that is run by hand it is
 * the source.
 * @param source from the root of the project, as `control-plane/src/main.ts`; any other file is itself
 */
export const program = (source: string): string => bundled[source] ?? path.resolve(checkout, source);

/** What `PARALLAX_TEST_PROGRAMS` carries, as JSON: the files by the sources that tests name. */
export const programsBySource = (programs: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(programs).map(([name, file]) => [`${name}/src/main.ts`, file]));
