import type { RouteContract } from '@parallax/api-contract';

/**
 * Which methods a path knows.
 * @returns for the path of a request (without query) the methods of all routes that it fits, HEAD with GET and OPTIONS always;
 * empty when no route has this path
 */
export function allowedMethods(
  routes: readonly Pick<RouteContract, 'method' | 'path'>[],
): (path: string) => readonly string[] {
  const patterns = routes.map(({ method, path }) => ({ method, parts: path.split('/') }));
  return (path) => {
    const parts = path.split('/');
    const methods = new Set<string>();
    for (const pattern of patterns) {
      if (pattern.parts.length !== parts.length) continue;
      if (!pattern.parts.every((part, index) => (part.startsWith(':') ? parts[index] !== '' : part === parts[index])))
        continue;
      methods.add(pattern.method);
      if (pattern.method === 'GET') methods.add('HEAD');
    }
    if (methods.size > 0) methods.add('OPTIONS');
    return [...methods];
  };
}
