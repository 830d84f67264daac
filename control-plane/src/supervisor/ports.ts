import { createServer, type AddressInfo } from 'node:net';

/** A listener that needs a port. `wanted` is what the settings say. */
export type PortRequest = {
  readonly name: string;
  readonly host: string;
  readonly wanted: number;
  /** Somebody named it, so it is this one or an error. */
  readonly isExplicit: boolean;
  /** What an earlier run took in place of a taken default. */
  readonly earlier: number | undefined;
};

export type ChosenPort = { readonly name: string; readonly port: number; readonly isReplaced: boolean };

export class PortTakenError extends Error {
  override readonly name = 'PortTakenError';
}

/** True when somebody can listen there now. Injected into the choice, which is otherwise pure. */
export type PortProbe = {
  readonly isFree: (host: string, port: number) => Promise<boolean>;
  readonly anyFree: (host: string) => Promise<number>;
};

/**
 * A port for every listener, no two alike. A taken default gives way to the port that an earlier run took instead, else to a free
 * one; a port that was named is never replaced: `PortTakenError` tells which.
 */
export async function choosePorts(requests: readonly PortRequest[], probe: PortProbe): Promise<readonly ChosenPort[]> {
  const chosen: ChosenPort[] = [];
  const isUsable = async (host: string, port: number) =>
    !chosen.some((other) => other.port === port) && (await probe.isFree(host, port));
  // Named ports first, so that no replacement takes one of them.
  for (const request of requests.toSorted((a, b) => Number(b.isExplicit) - Number(a.isExplicit))) {
    const { name, host, wanted, isExplicit, earlier } = request;
    if (await isUsable(host, wanted)) {
      chosen.push({ name, port: wanted, isReplaced: false });
    } else if (isExplicit) {
      throw new PortTakenError(`port ${wanted} on ${host} for ${name} is taken: free it or name another one`);
    } else if (earlier !== undefined && (await isUsable(host, earlier))) {
      chosen.push({ name, port: earlier, isReplaced: true });
    } else {
      let port = await probe.anyFree(host);
      while (chosen.some((other) => other.port === port)) port = await probe.anyFree(host);
      chosen.push({ name, port, isReplaced: true });
    }
  }
  return chosen;
}

/** Asks the system by listening for a moment. */
export const systemPorts: PortProbe = {
  isFree: (host, port) =>
    listenOnce(host, port).then(
      () => true,
      (error: NodeJS.ErrnoException) => {
        if (error.code === 'EADDRINUSE') return false;
        throw new Error(`cannot listen on ${host} port ${port}: ${error.message}`, { cause: error });
      },
    ),
  anyFree: (host) => listenOnce(host, 0),
};

function listenOnce(host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen({ host, port, exclusive: true }, () => {
      const taken = (server.address() as AddressInfo).port;
      server.close(() => resolve(taken));
    });
  });
}
