import { join } from 'node:path';
import type { Test } from 'tap';
import { fakeDocker, listenDockerAt } from '../docker-peer.ts';
import { ownFolder } from '../real-server.ts';

export type Docker = {
  /** Of the socket in the file system. */
  readonly path: string;
  readonly url: string;
  readonly stop: () => Promise<void>;
};

/** A daemon of Docker on a socket, with one running container `web` that is healthy. */
export async function startDocker(t: Test): Promise<Docker> {
  const path = join(await ownFolder(t, 'docker'), 'docker.sock');
  const stop = await listenDockerAt(fakeDocker({ web: { health: 'healthy' } }), path);
  t.teardown(stop);
  return { path, url: `unix://${path}`, stop };
}
