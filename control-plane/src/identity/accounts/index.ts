import type { Capability } from '../../capability.ts';
import type { Context } from '../../context.ts';
import { addressRoutes } from './address/routes.ts';
import { secondFactorResetConsumer } from './commands/consumer.ts';
import { deletedAccountConsumer } from './deletion/consumer.ts';
import { deletionRoutes } from './deletion/routes.ts';
import { tokenSweep } from './job.ts';
import { forgottenPasswordConsumer } from './password/consumer.ts';
import { linkPageRoutes } from './link-pages/routes.ts';
import { passwordRoutes } from './password/routes.ts';
import { profileRoutes } from './profile/routes.ts';
import { sessionRoutes } from './sessions/routes.ts';

/** What users do with their own accounts: password, address, profile, sessions. */
export const accountsCapability: Capability<Context> = {
  name: 'accounts',
  routes: (context) => [
    ...passwordRoutes(context),
    ...addressRoutes(context),
    ...profileRoutes(context),
    ...sessionRoutes(context),
    ...deletionRoutes(context),
    ...linkPageRoutes(),
  ],
  services: [tokenSweep],
  consumers: [forgottenPasswordConsumer, deletedAccountConsumer, secondFactorResetConsumer],
};

export { makeAccount } from './commands/gateway.ts';
export {
  findAccount,
  listAccounts,
  resetSecondFactor,
  setAdministrator,
  setPassword,
  setPlan,
} from './commands/queries.ts';
export type { AccountRow } from './commands/queries.ts';
export { requireProof, requireRecentProof } from './proof/gateway.ts';
export { tellOwner } from './proof/owner-mail.gateway.ts';
