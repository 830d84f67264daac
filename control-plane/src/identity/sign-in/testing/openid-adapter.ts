import type { Adapter, AdapterFactory, AdapterPayload } from 'oidc-provider';

/**
 * For tests: where the OpenID provider of one test keeps what it made. In place of the library's own, which is shared by all providers of a
 * process and warns on the console that it is not for production. Nothing expires: the provider itself judges `exp`.
 */
export function openidAdapter(): AdapterFactory {
  const kept = new Map<string, AdapterPayload>();
  return (model) => {
    const keyOf = (id: string): string => `${model}:${id}`;
    const found = (matches: (payload: AdapterPayload) => boolean): AdapterPayload | undefined =>
      [...kept].find(([key, payload]) => key.startsWith(`${model}:`) && matches(payload))?.[1];
    const adapter: Adapter = {
      upsert: async (id, payload) => void kept.set(keyOf(id), payload),
      find: async (id) => kept.get(keyOf(id)),
      findByUserCode: async (userCode) => found((payload) => payload.userCode === userCode),
      findByUid: async (uid) => found((payload) => payload.uid === uid),
      consume: async (id) => {
        const payload = kept.get(keyOf(id));
        if (payload !== undefined) payload['consumed'] = Math.floor(Date.now() / 1_000);
      },
      destroy: async (id) => void kept.delete(keyOf(id)),
      revokeByGrantId: async (grantId) => {
        for (const [key, payload] of kept) if (payload.grantId === grantId) kept.delete(key);
      },
    };
    return adapter;
  };
}
