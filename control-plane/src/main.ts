import { keepCompiledCode } from '@parallax/embedded/compile-cache';

// Everything else is imported afterwards, so that it is compiled once and not at each start.
keepCompiledCode();
const { runCli } = await import('./cli.ts');

const exitCode = await runCli(process.argv, process.env);
if (exitCode !== 0) process.exitCode = exitCode;
