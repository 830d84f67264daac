import { invalidInput, Problem } from '@parallax/api-contract';
import type { FileBody } from '@parallax/api-contract';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { boundaryOf, firstFile, MultipartError } from './multipart.ts';

/** A file as a client sent it. What it really is, its bytes must tell. */
export type GivenFile = { readonly bytes: Buffer };

/** Lets the routes of a scope of the framework take files in place of JSON; handlers get a `GivenFile`, or undefined for no body at all. */
export function takeFiles(scope: FastifyInstance, file: FileBody): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser(
    '*',
    { parseAs: 'buffer', bodyLimit: file.maxBytes },
    async (request: FastifyRequest, body: Buffer) => {
      const contentType = request.headers['content-type'] ?? '';
      const type = contentType.split(';', 1)[0]?.trim().toLowerCase() ?? '';
      const encoding = request.headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
      if (!file.types.includes(type) || encoding !== 'identity') {
        throw new Problem('unsupported_media_type', `send ${file.types.join(' or ')}, not compressed`);
      }
      if (body.length === 0) return undefined;
      return { bytes: type === 'multipart/form-data' ? fileOfForm(body, contentType) : body } satisfies GivenFile;
    },
  );
}

function fileOfForm(body: Buffer, contentType: string): Buffer {
  const boundary = boundaryOf(contentType);
  if (boundary === undefined) throw invalidInput('header', '/Content-Type', 'boundary', 'the form names no boundary');
  try {
    return firstFile(body, boundary);
  } catch (error) {
    if (error instanceof MultipartError) throw invalidInput('body', '', 'multipart', error.message);
    throw error;
  }
}
