import type { Protocol } from '@parallax/checks';
import type { StartCase } from './case.ts';
import { data } from './data.ts';
import { hosts } from './hosts.ts';
import { web } from './web.ts';

/** The check types by the story that watches them: `check-types-<family>.test.ts`, so that the stories can run side by side. */
export const families = { web, data, hosts } satisfies Record<string, Partial<Record<Protocol, StartCase>>>;

export type Family = keyof typeof families;
