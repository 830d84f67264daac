/** Routes of monitors and of what is one under another name: about half of all requests. */
export const isOfMonitors = (path: string): boolean => /^\/api\/v1\/(monitors|api-checks)(\/|$)/.test(path);

/** Routes of heartbeats and webhook checks, and where signals and deliveries come in. */
export const isOfSignals = (path: string): boolean =>
  /^\/(api\/v1\/(heartbeats|webhook-checks?|ping)|ping|api\/push)(\/|$)/.test(path);

/** Routes of incidents and maintenance, their calendars included. */
export const isOfResponse = (path: string): boolean => /^\/(api\/v1\/)?(incidents|maintenances?)(\/|$)/.test(path);

/** All others. */
export const isOfNoneElse = (path: string): boolean => ![isOfMonitors, isOfSignals, isOfResponse].some((of) => of(path));
