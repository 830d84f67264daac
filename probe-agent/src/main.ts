import { runCli } from './cli.ts';

/** No `await` at the top: the single executable is bundled as CommonJS, which has none. */
async function main(): Promise<void> {
  const exitCode = await runCli(
    process.argv,
    { env: process.env, output: { line: (text) => process.stdout.write(`${text}\n`) } },
    (text) => process.stderr.write(`${text}\n`),
  );
  if (exitCode !== 0) process.exitCode = exitCode;
}

void main();
