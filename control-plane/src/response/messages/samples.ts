import type { Locale } from './locale.ts';
import { gatheredSamples } from './samples/gathered.ts';
import { lastingSamples, openedSamples, overSamples } from './samples/incidents.ts';
import { maintenanceSamples, nameSamples, probeSamples } from './samples/others.ts';
import { sampleParts } from './samples/parts.ts';
import type { Sample } from './samples/parts.ts';
import { stateSamples } from './samples/states.ts';

/**
 * One notice of every kind: what docs/messages.md shows and tests walk over.
 * @param locale in which they are told; names are in the same language
 */
export function samples(locale: Locale): readonly Sample[] {
  const parts = sampleParts(locale);
  return [
    openedSamples,
    lastingSamples,
    overSamples,
    stateSamples,
    nameSamples,
    probeSamples,
    maintenanceSamples,
    gatheredSamples,
  ].flatMap((make) => make(parts));
}
