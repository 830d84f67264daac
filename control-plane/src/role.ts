/** What a control-plane process may do; `PARALLAX_ROLES` picks. */
export const processRoles = ['api', 'dispatch', 'ingest', 'worker'] as const;
export type Role = (typeof processRoles)[number];
