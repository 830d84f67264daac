import type { Capability } from '../../capability.ts';
import type { Context } from '../../context.ts';
import { consolePageRoutes } from './routes.ts';

/** The pages that messages and redirects lead to, until a console stands there. */
export const consolePagesCapability: Capability<Context> = { name: 'console-pages', routes: consolePageRoutes };
