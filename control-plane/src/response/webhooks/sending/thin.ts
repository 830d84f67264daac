import { z } from 'zod';

const full = z.looseObject({
  data: z.object({
    subject: z.object({ type: z.string(), id: z.number() }).optional(),
    url: z.string().nullable().optional(),
  }),
});

/** The body of an event without what it tells of its subject. */
export function thinBody(body: string): string {
  const { data, ...rest } = full.parse(JSON.parse(body));
  const subject = data.subject === undefined ? null : { type: data.subject.type, id: data.subject.id };
  return JSON.stringify({ ...rest, data: { subject, url: data.url ?? null } });
}
