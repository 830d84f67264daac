import { runCli } from './cli.ts';

const exitCode = await runCli(process.argv, process.env);
if (exitCode !== 0) process.exitCode = exitCode;
