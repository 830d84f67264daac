import { createServer, type AddressInfo } from 'node:net';
import t from 'tap';
import { choosePorts, PortTakenError, systemPorts, type PortRequest } from './ports.ts';

const request = (changes: Partial<PortRequest>): PortRequest => ({
  name: 'http',
  host: '127.0.0.1',
  wanted: 8080,
  isExplicit: false,
  earlier: undefined,
  ...changes,
});
const probe = (taken: readonly number[], free = [50_001, 50_002, 50_003]) => ({
  isFree: (_host: string, port: number) => Promise.resolve(!taken.includes(port)),
  anyFree: () => Promise.resolve(free.shift() ?? 0),
});

t.test('a free port is taken as it is; a taken default gives way to the earlier one, else to a free one', async (t) => {
  t.same(await choosePorts([request({})], probe([])), [{ name: 'http', port: 8080, isReplaced: false }]);
  t.same(await choosePorts([request({ earlier: 8085 })], probe([8080])), [
    { name: 'http', port: 8085, isReplaced: true },
  ]);
  t.same(await choosePorts([request({ earlier: 8085 })], probe([8080, 8085])), [
    { name: 'http', port: 50_001, isReplaced: true },
  ]);
});

t.test('a named port that is taken is an error that names it', async (t) => {
  await t.rejects(choosePorts([request({ isExplicit: true })], probe([8080])), {
    name: 'PortTakenError',
    message: 'port 8080 on 127.0.0.1 for http is taken: free it or name another one',
  });
});

t.test('no two listeners get the same port, and a replacement never takes a named one', async (t) => {
  const chosen = await choosePorts(
    [request({ name: 'http' }), request({ name: 'grpc', wanted: 50_001, isExplicit: true })],
    probe([8080]),
  );
  t.same(
    new Map(chosen.map(({ name, port }) => [name, port])),
    new Map([
      ['grpc', 50_001],
      ['http', 50_002],
    ]),
  );
  await t.rejects(
    choosePorts([request({ isExplicit: true }), request({ name: 'grpc', isExplicit: true })], probe([])),
    PortTakenError,
  );
});

t.test('the system is asked by listening', async (t) => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  t.equal(await systemPorts.isFree('127.0.0.1', port), false);
  await new Promise((resolve) => server.close(resolve));
  t.equal(await systemPorts.isFree('127.0.0.1', port), true);
  t.not(await systemPorts.anyFree('127.0.0.1'), 0);
  await t.rejects(systemPorts.isFree('192.0.2.1', 1), { message: /cannot listen on 192\.0\.2\.1 port 1/ });
});
