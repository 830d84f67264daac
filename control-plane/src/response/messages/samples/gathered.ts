import type { Sample, SampleParts } from './parts.ts';

/** Many at once, and the message that tries a channel. */
export function gatheredSamples(parts: SampleParts): readonly Sample[] {
  const { notice, lines } = parts;
  return [
    {
      name: 'digest',
      notice: notice('digest', { occasion: null, alertName: null, digest: { count: 57, lasting: 56, over: 1, lines } }),
    },
    {
      name: 'end of quiet hours',
      notice: notice('after_quiet', { occasion: null, digest: { count: 4, lasting: 3, over: 1, lines } }),
    },
    {
      name: 'end of quiet hours, all is well',
      notice: notice('after_quiet', {
        occasion: null,
        digest: { count: 1, lasting: 0, over: 1, lines: lines.slice(3) },
      }),
    },
    { name: 'test', notice: notice('test', { occasion: null }) },
  ];
}
