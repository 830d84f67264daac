import { protocols } from './registry.ts';
import { leaveNothing, processPerRun } from './testing/leaks.ts';

await leaveNothing(protocols.filter((protocol) => processPerRun[protocol] === undefined));
