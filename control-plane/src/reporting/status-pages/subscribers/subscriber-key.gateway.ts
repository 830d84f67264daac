import { randomBytes } from 'node:crypto';
import type { Context } from '../../../context.ts';
import { installationKey } from '../../../platform/crypto/sealed-keys.ts';

const keys = new WeakMap<object, Promise<Buffer>>();

/** The key by which targets of subscribers are found again. It never changes, so that nobody subscribes twice; read once in each process. */
export async function subscriberKey({ database, sealer }: Pick<Context, 'database' | 'sealer'>): Promise<Buffer> {
  const known = keys.get(database);
  if (known !== undefined) return known;
  const reading = installationKey(database.worker, sealer, 'page subscribers', async () => ({
    secret: randomBytes(32),
  })).then(({ secret }) => secret);
  keys.set(database, reading);
  try {
    return await reading;
  } catch (error) {
    keys.delete(database);
    throw error;
  }
}
