import { z } from 'zod';

/** What a change did beside what was asked for. */
export const warningSchema = z
  .object({
    code: z.enum(['secret_dropped']),
    path: z.string().describe('JSON pointer to the field of the body that would keep it.'),
    message: z.string(),
  })
  .meta({ id: 'Warning' });
export type Warning = z.output<typeof warningSchema>;

/** `warnings` of the answer to a change. */
export const warningsSchema = z
  .array(warningSchema)
  .optional()
  .describe('What the change did beside what was asked for; absent when there is nothing to say.');

/** The warning about a stored secret that a change left behind. @param path of the field that would keep it */
export function secretDropped(path: string): Warning {
  const message = 'the stored secret was dropped, since it belonged to what was there before; send it again to keep it';
  return { code: 'secret_dropped', path, message };
}

/** `warnings` of an answer; nothing at all when no secret was dropped. */
export function warningsOf(droppedPaths: readonly string[]): { warnings?: Warning[] } {
  return droppedPaths.length === 0 ? {} : { warnings: droppedPaths.map(secretDropped) };
}
