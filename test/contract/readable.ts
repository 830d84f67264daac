import type { TestAnswer } from '../../control-plane/src/identity/testing.ts';
import { engineNamesInText, engineRecordsIn } from '../../control-plane/src/testing/engine-records.ts';

/** Web Authentication Level 3 names what browsers are handed. */
const ofBrowsers = /\/passkeys?\b/;

/** What of an answer is a record of the engine and no readable form; undefined when nothing is. */
export function readableFault(path: string, answer: TestAnswer): string | undefined {
  if (ofBrowsers.test(path) || path.startsWith('/openapi')) return undefined;
  const type = answer.headers.get('content-type') ?? '';
  const found = foundIn(type, answer);
  return found.length === 0 ? undefined : `it shows records of the engine: ${found.slice(0, 10).join(', ')}`;
}

function foundIn(type: string, { body, text }: TestAnswer): readonly string[] {
  if (type.startsWith('text/csv')) return engineNamesInText(text, 'csv');
  if (type.includes('yaml')) return engineNamesInText(text, 'yaml');
  if (!type.startsWith('text/event-stream')) return engineRecordsIn(body);
  return [...text.matchAll(/^data: (.*)$/gm)].flatMap(([, data = 'null']) => engineRecordsIn(JSON.parse(data)));
}
