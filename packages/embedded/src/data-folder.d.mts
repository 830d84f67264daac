export type Account = { readonly name: string; readonly uid: number; readonly gid: number };

/**
 * The account that PostgreSQL runs as when this process is root (`postgres`, else `nobody`; none is ever created); undefined for an
 * ordinary user, who runs it as himself. Throws when root has no such account.
 */
export function databaseAccount(): Account | undefined;

/** True when the account (undefined: this user) can enter the folder. */
export function isReachable(folder: string, account: Account | undefined): boolean;

/**
 * The data folder: what `PARALLAX_DATA_DIR` names, else `data` in the checkout, else, where the account of PostgreSQL cannot get
 * there (a checkout below `/root`), a folder for this checkout below `/var/lib/parallax`. Nothing is made.
 */
export function chooseDataFolder(options: {
  readonly named: string | undefined;
  readonly checkout: string;
}): { readonly folder: string; readonly isRelocated: boolean };
