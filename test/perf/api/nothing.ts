import { route } from '@parallax/api-contract';
import { z } from 'zod';
import { handle } from '../../../control-plane/src/platform/http/handler.ts';

/** A route that only knows who calls: what a request costs before its statement. */
export const routeOfNothing = handle(
  route({
    method: 'GET',
    path: '/api/v1/bench/nothing',
    credentials: 'key-or-bearer',
    tag: 'Bench',
    summary: 'Nothing',
    success: { status: 200, answer: z.object({}) },
  }),
  async () => ({}),
);
