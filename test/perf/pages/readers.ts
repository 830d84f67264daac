import { Readers } from './load.ts';
import type { LoadPlan } from './load.ts';

// The readers in a process of their own, so that what they do is not mixed with what is measured.
process.on('message', (plan: LoadPlan) => {
  void new Readers(plan).run().then((load) => process.send?.(load));
});
process.once('disconnect', () => process.exit(0));
process.send?.({});
