import { SettingsError } from '@parallax/settings';
import { createLogger, createShutdown, readableLine } from '@parallax/telemetry';
import type { UpParts } from './parts.ts';
import { up, upStopDeadlineMs, type UpOptions } from './up.ts';

/**
 * The command `control-plane up`: progress on standard output, then the URL; the log on standard error. Ends this process with 0
 * after an ordered stop, with 1 when something did not come up or did not stop in time.
 */
export async function runUp(options: Pick<UpOptions, 'env' | 'checkout'> & { readonly parts: UpParts }): Promise<void> {
  // A reader that goes away (`npm start | head`) must not end the supervisor before its children.
  process.stdout.on('error', () => {});
  process.stderr.on('error', () => {});
  const isReadable = process.stderr.isTTY;
  const log = createLogger({
    name: 'supervisor',
    level: options.env['PARALLAX_LOG_LEVEL'] === 'debug' ? 'debug' : 'info',
    destination: { write: (line: string) => void process.stderr.write(line) },
    readable: isReadable,
  });
  const shutdown = createShutdown({ log, deadlineMs: upStopDeadlineMs });
  const end = async (reason: string, code: number) => {
    const isClean = await shutdown.stop(reason);
    process.exit(isClean ? code : 1);
  };
  // Whoever started this holds a channel to it; when that process is killed, everything ends with it.
  if (process.channel !== undefined) process.once('disconnect', () => void end('the start script is gone', 0));
  process.on('uncaughtException', (error) => {
    log.error({ err: error }, 'a defect of the supervisor');
    void end('a defect', 1);
  });

  try {
    const { url } = await up({
      ...options,
      print,
      log,
      shutdown,
      onChildLine: (_child, line) => void process.stderr.write(isReadable ? readableLine(line, '\n') : `${line}\n`),
    });
    print(`\n  Parallax is running: ${url}\n  Ctrl-C stops it.\n`);
  } catch (error) {
    if (shutdown.signal.aborted) return;
    const message = error instanceof Error ? error.message : String(error);
    process.stderr.write(`Parallax cannot start: ${message}\n`);
    if (!(error instanceof SettingsError)) log.debug({ err: error }, 'cannot start');
    await end('cannot start', 1);
  }
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
