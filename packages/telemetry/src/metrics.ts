import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { collectDefaultMetrics, Registry } from 'prom-client';

export type Metrics = {
  /** Register counters, gauges and histograms with `registers: [metrics.registry]`. */
  readonly registry: Registry;
  /** Serves `GET /metrics`; port 0 takes a free one. Rejects when the port is taken. */
  listen(options: {
    readonly host?: string;
    readonly port: number;
  }): Promise<{ readonly port: number; close(): Promise<void> }>;
};

/** A registry of its own (nothing global) with the metrics of the process in it. */
export function createMetrics(options: { readonly program: string }): Metrics {
  const registry = new Registry();
  registry.setDefaultLabels({ program: options.program });
  collectDefaultMetrics({ register: registry });
  return { registry, listen: (where) => listen(registry, where.host ?? '127.0.0.1', where.port) };
}

async function listen(registry: Registry, host: string, port: number) {
  const server = createServer({ requestTimeout: 10_000, headersTimeout: 5_000 }, (request, response) => {
    if (request.method !== 'GET' || request.url?.split('?')[0] !== '/metrics') {
      response.writeHead(404, { 'content-type': 'text/plain' }).end('only GET /metrics\n');
      return;
    }
    registry.metrics().then(
      (body) => response.writeHead(200, { 'content-type': registry.contentType }).end(body),
      (error: unknown) => response.writeHead(500, { 'content-type': 'text/plain' }).end(`${String(error)}\n`),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
