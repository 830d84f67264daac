import { spawn } from 'node:child_process';

/** Starts processes that only compute, for tests that have to hold on a busy machine. @returns what ends them */
export function startLoad(count: number): () => void {
  // They end by themselves when whoever started them is gone.
  const program =
    'const parent = process.ppid; for (;;) { const until = Date.now() + 1e3; while (Date.now() < until); if (process.ppid !== parent) break; }';
  const busy = Array.from({ length: count }, () => spawn(process.execPath, ['-e', program], { stdio: 'ignore' }));
  return () => {
    for (const child of busy) child.kill('SIGKILL');
  };
}
