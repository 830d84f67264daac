/** A join token: `id.secret.fingerprint`. The first two parts go to the control plane, the third stays here and proves who answers. */
export type JoinToken = { readonly credential: string; readonly fingerprint: string };

/** Reads a join token; a string says what is wrong with it, without repeating it. */
export function parseJoinToken(text: string): JoinToken | string {
  const parts = text.trim().split('.');
  if (parts.length !== 3) return 'a join token has three parts, separated by dots; copy the whole of it';
  const [id = '', secret = '', fingerprint = ''] = parts;
  if (!/^[\w-]{1,100}$/.test(id) || !/^[\w-]{16,200}$/.test(secret))
    return 'the join token is damaged; copy the whole of it';
  if (!/^[0-9a-f]{64}$/i.test(fingerprint))
    return 'the last part of the join token is not a SHA-256 fingerprint; copy the whole of it';
  return { credential: `${id}.${secret}`, fingerprint: fingerprint.toLowerCase() };
}
