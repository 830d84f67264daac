import { runCli } from './cli.ts';

const exitCode = await runCli(
  process.argv,
  { env: process.env, output: { line: (text) => process.stdout.write(`${text}\n`) } },
  (text) => process.stderr.write(`${text}\n`),
);
if (exitCode !== 0) process.exitCode = exitCode;
