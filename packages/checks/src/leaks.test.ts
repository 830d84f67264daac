import { leaveNothing, typesWithoutPrograms } from './testing/leaks.ts';

await leaveNothing(typesWithoutPrograms);
