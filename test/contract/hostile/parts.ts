/** Routes of monitors and of what is one under another name: about half of all requests. */
export const isOfMonitors = (path: string): boolean => /^\/api\/v1\/(monitors|api-checks)(\/|$)/.test(path);
