import { z } from 'zod';
import { route } from './route.ts';
import { listOf, pageQuery, timestamp } from './shared.ts';

const tag = 'Accounts';

export const sessionSchema = z
  .object({
    id: z.uuid(),
    user_agent: z.string().nullable(),
    /** Where it was started. */
    remote_address: z.string().nullable(),
    created_at: timestamp,
    /** When its tokens were last refreshed. */
    last_used_at: timestamp,
    /** When it ends unless it is used. */
    expires_at: timestamp,
    /** That of this request. */
    is_current: z.boolean(),
  })
  .meta({ id: 'Session' });
export type Session = z.output<typeof sessionSchema>;

export const listSessionsRoute = route({
  method: 'GET',
  path: '/api/v1/auth/sessions',
  credentials: 'bearer',
  tag,
  summary: 'List the own sessions that live, the last used one first',
  query: z.object(pageQuery),
  success: { status: 200, answer: listOf('sessions', sessionSchema).meta({ id: 'SessionList' }) },
});

export const endSessionRoute = route({
  method: 'DELETE',
  path: '/api/v1/auth/sessions/:session_id',
  credentials: 'bearer',
  tag,
  summary: 'End one of the own sessions',
  params: z.object({ session_id: z.uuid() }),
  success: { status: 204 },
  errors: [404],
});
