import { createServer, get } from 'node:http';

// What Node takes for an answer of these headers and bytes at least: nothing is looked at of a request.
process.once('message', ({ of }: { readonly of: string }) => void serve(of));
process.once('disconnect', () => process.exit(0));
process.send?.({});

async function serve(of: string): Promise<void> {
  const { fields, body } = await answerOf(of);
  const server = createServer((_request, response) => {
    response.writeHead(200, fields);
    response.end(body);
  });
  server.listen(0, '127.0.0.1', () => {
    const address = server.address();
    process.send?.({ port: typeof address === 'object' && address !== null ? address.port : 0 });
  });
}

/** An answer as it was sent, without those headers that Node adds by itself. */
async function answerOf(url: string): Promise<{ readonly fields: string[]; readonly body: Buffer }> {
  return new Promise((resolve, reject) => {
    const request = get(url, { headers: { 'accept-encoding': 'gzip' } }, (response) => {
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => void parts.push(part));
      response.on('end', () => resolve({ fields: fieldsOf(response.rawHeaders), body: Buffer.concat(parts) }));
    });
    request.once('error', reject);
  });
}

const ofNode = /^(?:date|connection|keep-alive)$/i;

function fieldsOf(raw: readonly string[]): string[] {
  return raw.flatMap((name, at) => (at % 2 === 0 && !ofNode.test(name) ? [name, raw[at + 1] ?? ''] : []));
}
