import type { RawBody } from '@parallax/api-contract';
import type { FastifyInstance, FastifyRequest } from 'fastify';

/** Lets the routes of a scope of the framework take bytes of any type and encoding, as they came: what was signed is the bytes. */
export function takeBytes(scope: FastifyInstance, { maxBytes }: RawBody): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser(
    '*',
    { parseAs: 'buffer', bodyLimit: maxBytes },
    async (_request: FastifyRequest, body: Buffer) => body,
  );
}
