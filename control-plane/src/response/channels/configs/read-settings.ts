import { bodyErrors, refusedInput } from '../../../platform/http/input-errors.ts';
import type { AnySettings } from '../channel.ts';
import type { AnyChannel } from '../registry.ts';

const mostBytes = 65_536;

/**
 * Settings as the channel reads them, with defaults.
 * @throws Problem `invalid_input` with the place of each thing that is wrong, below `/settings`
 */
export function readSettings(channel: AnyChannel, given: AnySettings): AnySettings {
  if (Buffer.byteLength(JSON.stringify(given)) > mostBytes) {
    const message = `at most ${mostBytes} bytes as JSON`;
    throw refusedInput([{ in: 'body', path: '/settings', code: 'too_big', message }]);
  }
  const read = channel.settings.safeParse(given);
  if (read.success) return read.data;
  throw refusedInput(bodyErrors(read.error.issues, ['settings']));
}
