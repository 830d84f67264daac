import {
  mssqlTokens,
  startDocker,
  startKafka,
  startMariadb,
  startMongodb,
  startMosquitto,
  startMssql,
  startNats,
  startPostgres,
  startRabbitmq,
  startRedis,
  startSourceGame,
} from '@parallax/checks/testing';
import type { Case, World } from './case.ts';

/** Databases, brokers, containers and games. */
export const data = {
  postgres: async ({ t }: World): Promise<Case> => {
    const { url, username, password, database, ca, stop } = await startPostgres(t);
    const settings = { username, password, database, ca_certificates: ca, query: 'SELECT n FROM kept' };
    return { url, settings: { ...settings, expected_value: '7' }, stop };
  },
  mysql: async (world: World): Promise<Case | undefined> => {
    const found = await startMariadb(world.t, world);
    if (found === undefined) return undefined;
    const { url, username, password, stop } = found;
    const settings = { username, password, ca_certificates: world.authority, query: 'SELECT n FROM shop.kept' };
    return { url, settings: { ...settings, expected_value: '7' }, stop };
  },
  redis: async ({ t }: World): Promise<Case | undefined> => {
    const redis = await startRedis(t);
    return redis && { url: redis.url, settings: { password: redis.password }, stop: redis.stop };
  },
  mongodb: async ({ t }: World): Promise<Case> => {
    const login = { username: 'probe', password: 'right one' };
    const peer = await startMongodb(t, login);
    return { url: `127.0.0.1:${peer.port}`, settings: login, stop: peer.stop };
  },
  mssql: async ({ t, certificate }: World): Promise<Case> => {
    const login = { username: 'probe', password: 'right one' };
    const row = () => mssqlTokens.result([0x26, 4], [Buffer.from([4, 1, 0, 0, 0])]);
    const peer = await startMssql(t, {
      ...certificate,
      login: (username, password) =>
        username === login.username && password === login.password
          ? mssqlTokens.welcome()
          : mssqlTokens.error(18456, 'Login failed.'),
      batch: row,
    });
    return { url: `127.0.0.1:${peer.port}`, settings: login, stop: peer.stop };
  },
  mqtt: async ({ t }: World): Promise<Case | undefined> => {
    const broker = await startMosquitto(t);
    return broker && { url: broker.url, settings: { topic: 'checks/round/trip' }, stop: broker.stop };
  },
  amqp: async ({ t }: World): Promise<Case | undefined> => startRabbitmq(t),
  kafka: async ({ t }: World): Promise<Case> => {
    const peer = await startKafka(t);
    return { url: `127.0.0.1:${peer.port}`, settings: { topic: 'orders' }, stop: peer.stop };
  },
  nats: async ({ t }: World): Promise<Case | undefined> => {
    const server = await startNats(t);
    return server && { url: server.url, settings: { subject: 'checks.round.trip' }, stop: server.stop };
  },
  docker: async ({ t }: World): Promise<Case> => {
    const { url, path, stop } = await startDocker(t);
    return { url, settings: { container: 'web' }, agent: { PARALLAX_PROBE_DOCKER_SOCKETS: path }, stop };
  },
  gamedig: async ({ t }: World): Promise<Case> => {
    const { url, stop } = await startSourceGame(t);
    return { url, settings: { min_players: 1 }, stop };
  },
};
