import { keepCompiledCode } from '@parallax/embedded/compile-cache';

/**
 * Everything is imported after `keepCompiledCode`, so that it is compiled once and not at each start. No `await` at the top: the single
 * executable is bundled as CommonJS, which has none.
 */
async function main(): Promise<void> {
  keepCompiledCode();
  const { startOfThisThread } = await import('./workers/thread.ts');
  const thread = startOfThisThread();
  if (thread !== undefined) {
    const { work } = await import('./workers/work.ts');
    work(thread.port, thread.start);
    return;
  }
  const [{ runCli }, { terminalOf }] = await Promise.all([import('./cli.ts'), import('./commands/output.ts')]);
  // Whoever read the output has gone, as in `probe-agent check --types | head -1`.
  process.stdout.on('error', () => process.exit());
  const exitCode = await runCli(
    process.argv,
    {
      env: process.env,
      output: {
        line: (text) => process.stdout.write(`${text}\n`),
        terminal: terminalOf(process.stdout, process.env),
      },
    },
    (text) => process.stderr.write(`${text}\n`),
  );
  if (exitCode !== 0) process.exitCode = exitCode;
}

void main();
