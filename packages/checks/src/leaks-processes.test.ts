import { leaveNothing, typesWithPrograms } from './testing/leaks.ts';

// In a file of its own: these types use programs that may be missing, so their tests run without them, too.
await leaveNothing(typesWithPrograms);
