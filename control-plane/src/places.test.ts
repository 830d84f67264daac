import { controlPlaneSettings, readSettings } from '@parallax/settings';
import t from 'tap';
import { places } from './places.ts';

const placesOf = (env: Record<string, string>) => places(readSettings(controlPlaneSettings, env));

t.test('every listener of the product is denied as a target', async (t) => {
  const usual = [8080, 9443, 9444, 4222].map((port) => ({ address: '127.0.0.1', port }));
  t.same(placesOf({}).deniedListeners, usual);
  const { deniedListeners } = placesOf({
    PARALLAX_METRICS_PORT: '9100',
    PARALLAX_DATABASE_URL: 'postgresql://owner:p%40ss@10.0.0.5:6432/parallax?sslmode=require',
    PARALLAX_DATABASE_API_URL: 'postgres://api@localhost/parallax',
    PARALLAX_DATABASE_WORKER_URL: 'postgresql://worker@[fd00::5]/parallax',
    PARALLAX_NATS_URL: 'tls://10.0.0.6',
  });
  t.same(deniedListeners.slice(usual.length), [
    { address: '127.0.0.1', port: 9100 },
    { address: '10.0.0.5', port: 6432 },
    { address: 'localhost', port: 5432 },
    { address: 'fd00::5', port: 5432 },
    { address: '10.0.0.6', port: 4222 },
  ]);
});

t.test('a socket has no port, and the name of another machine does not stand for this one', async (t) => {
  const { deniedListeners } = placesOf({
    PARALLAX_DATABASE_URL: 'postgresql://owner@%2Frun%2Fpostgres/parallax',
    PARALLAX_NATS_URL: 'tls://broker.example.org:4222',
  });
  t.equal(deniedListeners.length, 4);
});
