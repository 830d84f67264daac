import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { collectDefaultMetrics, Registry } from 'prom-client';

export type Metrics = {
  /** Register counters, gauges and histograms with `registers: [metrics.registry]`. */
  readonly registry: Registry;
  /** Serves `GET /metrics` and the pages; port 0 takes a free one. Rejects when the port is taken. */
  listen(options: MetricsListenerOptions): Promise<{ readonly port: number; close(): Promise<void> }>;
};

export type MetricsListenerOptions = {
  /** 127.0.0.1 when absent. */
  readonly host?: string;
  readonly port: number;
  /** What else is answered to a GET, by its path. */
  readonly pages?: ReadonlyMap<string, Page>;
};

/** Answers one path; one that rejects is answered with 500. */
export type Page = () => Promise<PageAnswer>;
export type PageAnswer = { readonly status: number; readonly contentType: string; readonly body: string };

/** Those who scrape and those who ask about health are few. */
const maxConnections = 64;

/** A registry of its own (nothing global) with the metrics of the process in it. */
export function createMetrics(options: { readonly program: string }): Metrics {
  const registry = new Registry();
  registry.setDefaultLabels({ program: options.program });
  collectDefaultMetrics({ register: registry });
  const metricsPage: Page = async () => ({
    status: 200,
    contentType: registry.contentType,
    body: await registry.metrics(),
  });
  return {
    registry,
    listen: ({ host = '127.0.0.1', port, pages = new Map() }) =>
      listen(new Map([...pages, ['/metrics', metricsPage]]), host, port),
  };
}

async function listen(pages: ReadonlyMap<string, Page>, host: string, port: number) {
  const server = createServer({ requestTimeout: 10_000, headersTimeout: 5_000 }, (request, response) => {
    const page = request.method === 'GET' ? pages.get(request.url?.split('?')[0] ?? '') : undefined;
    if (page === undefined) {
      const known = [...pages.keys()].sort().join(', ');
      response.writeHead(404, { 'content-type': 'text/plain' }).end(`only GET ${known}\n`);
      return;
    }
    page().then(
      ({ status, contentType, body }) => response.writeHead(status, { 'content-type': contentType }).end(body),
      (error: unknown) => response.writeHead(500, { 'content-type': 'text/plain' }).end(`${String(error)}\n`),
    );
  });
  server.maxConnections = maxConnections;
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
