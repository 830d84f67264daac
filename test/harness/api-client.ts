/** A small client of the REST API for tests: every call states the status it expects. */
export type ApiClient = {
  readonly baseUrl: string;
  readonly call: <Answer = Record<string, unknown>>(
    method: string,
    path: string,
    expectedStatus: number,
    body?: unknown,
    headers?: Record<string, string>,
  ) => Promise<Answer>;
  readonly withToken: (token: string) => ApiClient;
  /** The same account at another place. */
  readonly at: (baseUrl: string) => ApiClient;
};

export function apiClient(baseUrl: string, token?: string): ApiClient {
  return {
    baseUrl,
    withToken: (next) => apiClient(baseUrl, next),
    at: (next) => apiClient(next, token),
    call: async <Answer>(
      method: string,
      path: string,
      expectedStatus: number,
      body?: unknown,
      headers: Record<string, string> = {},
    ) => {
      const response = await fetch(baseUrl + path, {
        method,
        headers: {
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(75_000),
      });
      const text = await response.text();
      if (response.status !== expectedStatus) {
        throw new Error(`${method} ${path}: ${response.status} instead of ${expectedStatus}: ${text}`);
      }
      return (text === '' ? undefined : JSON.parse(text)) as Answer;
    },
  };
}

/** Registers an account, the first one if nothing else is said, and logs it in. */
export async function signedIn(
  baseUrl: string,
  email = 'first@example.org',
): Promise<{ api: ApiClient; workspaceId: number }> {
  const nobody = apiClient(baseUrl);
  const account = { email, password: 'a long enough passphrase' };
  await nobody.call('POST', '/api/v1/auth/register', 201, account);
  const { access_token } = await nobody.call<{ access_token: string }>('POST', '/api/v1/auth/login', 200, account);
  const api = nobody.withToken(access_token);
  const { workspaces } = await api.call<{ workspaces: { id: number }[] }>('GET', '/api/v1/workspaces', 200);
  const workspaceId = workspaces[0]?.id;
  if (workspaceId === undefined) throw new Error('the account has no workspace');
  return { api, workspaceId };
}
