/** Routes of monitors and of what is one under another name: about half of all requests. */
export const isOfMonitors = (path: string): boolean => /^\/api\/v1\/(monitors|api-checks)(\/|$)/.test(path);

/** Routes of heartbeats and webhook checks, and where signals and deliveries come in. */
export const isOfSignals = (path: string): boolean =>
  /^\/(api\/v1\/(heartbeats|webhook-checks?|ping)|ping|api\/push)(\/|$)/.test(path);

/** Routes of incidents and maintenance, their calendars included. */
export const isOfResponse = (path: string): boolean =>
  /^\/api\/v1\/(public\/)?(incidents|incident-templates|maintenance)(\/|$)/.test(path);

/** Routes of scheduled reports, their links included. */
export const isOfReports = (path: string): boolean =>
  /^\/api\/v1\/(public\/reports|scheduled-reports)(\/|$)/.test(path);

/** Routes of status pages and badges, and what the public reads of them. */
export const isOfStatusPages = (path: string): boolean =>
  /^\/(api\/v1\/(status-pages|public\/(status|domains)|badges)|status)(\/|$)/.test(path);

/** Routes of alerts, their pages included, and of events and webhooks. */
export const isOfAlerts = (path: string): boolean => /^\/(api\/v1\/)?(alerts|events|webhooks)(\/|$)/.test(path);

/** Routes of accounts and workspaces: most of the rest. */
export const isOfAccount = (path: string): boolean =>
  /^\/(api\/v1\/)?(auth|users|api-keys|workspaces)(\/|$)/.test(path);

/** All others. */
export const isOfNoneElse = (path: string): boolean =>
  ![isOfMonitors, isOfSignals, isOfResponse, isOfReports, isOfStatusPages, isOfAlerts, isOfAccount].some((isOf) =>
    isOf(path),
  );
