import { controlPlaneSettings, readSettings } from '@parallax/settings';
import t from 'tap';
import { places } from './places.ts';

const placesOf = (env: Record<string, string>) => places(readSettings(controlPlaneSettings, env));

t.test('every listener of the product is among those that no check may reach', async (t) => {
  const usual = [8080, 9443, 9444, 4222].map((port) => ({ host: '127.0.0.1', port }));
  t.same(placesOf({}).ownListeners, usual);
  const { ownListeners } = placesOf({
    PARALLAX_METRICS_HOST: '0.0.0.0',
    PARALLAX_METRICS_PORT: '9100',
    PARALLAX_DATABASE_URL: 'postgresql://owner:p%40ss@10.0.0.5:6432/parallax?sslmode=require',
    PARALLAX_DATABASE_API_URL: 'postgres://api@localhost/parallax',
    PARALLAX_DATABASE_WORKER_URL: 'postgresql://worker@[fd00::5]/parallax',
    PARALLAX_NATS_URL: 'tls://broker.example.org',
    PARALLAX_GRPC_PUBLIC_ADDRESS: 'probes.example.org:443',
    PARALLAX_NATS_PUBLIC_ADDRESS: '[2001:db8::7]:4222',
  });
  t.same(ownListeners.slice(usual.length), [
    { host: '0.0.0.0', port: 9100 },
    { host: '10.0.0.5', port: 6432 },
    { host: 'localhost', port: 5432 },
    { host: 'fd00::5', port: 5432 },
    { host: 'broker.example.org', port: 4222 },
    { host: 'probes.example.org', port: 443 },
    { host: '2001:db8::7', port: 4222 },
  ]);
});

t.test('metrics and health are asked on this machine alone unless it is said otherwise', async (t) => {
  const { ownListeners } = placesOf({ PARALLAX_METRICS_PORT: '9100' });
  t.same(ownListeners.at(-1), { host: '127.0.0.1', port: 9100 });
});

t.test('a socket has no port', async (t) => {
  const { ownListeners } = placesOf({ PARALLAX_DATABASE_URL: 'postgresql://owner@%2Frun%2Fpostgres/parallax' });
  t.equal(ownListeners.length, 4);
});

t.test('the front end is reached safely, and its address is a base without anything behind it', async (t) => {
  t.equal(placesOf({}).frontendUrl, undefined);
  const of = (url: string) => placesOf({ PARALLAX_FRONTEND_URL: url }).frontendUrl;
  t.equal(of('https://console.example/app/'), 'https://console.example/app');
  t.equal(of('http://localhost:5173'), 'http://localhost:5173');
  for (const wrong of [
    'http://console.example',
    'https://console.example/?next=',
    'https://console.example/#',
    'https://user:secret@console.example',
    'javascript:alert(1)',
    '//console.example',
    '/app',
  ])
    t.throws(() => of(wrong), /PARALLAX_FRONTEND_URL/, wrong);
});
