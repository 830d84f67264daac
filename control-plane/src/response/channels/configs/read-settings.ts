import { Problem } from '@parallax/api-contract';
import type { InputError } from '@parallax/api-contract';
import type { AnySettings } from '../channel.ts';
import type { AnyChannel } from '../registry.ts';

const mostBytes = 65_536;

/**
 * Settings as the channel reads them, with defaults.
 * @throws Problem `invalid_input` with the place of each thing that is wrong, below `/settings`
 */
export function readSettings(channel: AnyChannel, given: AnySettings): AnySettings {
  if (Buffer.byteLength(JSON.stringify(given)) > mostBytes) {
    throw invalid([{ in: 'body', path: '/settings', code: 'too_big', message: `at most ${mostBytes} bytes as JSON` }]);
  }
  const read = channel.settings.safeParse(given);
  if (read.success) return read.data;
  throw invalid(
    read.error.issues.map((issue) => ({
      in: 'body',
      path: ['/settings', ...issue.path.map((part) => pointerPart(String(part)))].join('/'),
      code: issue.code,
      message: issue.message,
    })),
  );
}

function invalid(errors: readonly InputError[]): Problem {
  return new Problem('invalid_input', errors[0]?.message ?? 'the settings are not valid', { errors });
}

/** RFC 6901. */
function pointerPart(text: string): string {
  return text.replaceAll('~', '~0').replaceAll('/', '~1');
}
