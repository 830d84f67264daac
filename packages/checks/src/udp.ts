import { z } from 'zod';
import { lazily } from './lazily.ts';
import { failed } from './net/failure.ts';
import { addressFields } from './net/connection-settings.ts';
import { conversation } from './net/conversation.ts';
import { bytesOf, isHex, readable } from './net/payload.ts';

const payload = lazily(() => z.string().min(1).max(4096));

/** Settings of `udp`. UDP has no connection: a target that stays silent cannot be told from one that is absent, so an answer is asked for. */
const udpSettings = lazily(() =>
  z
    .strictObject({
      /** The datagram that is sent; absent: an empty one. */
      send: payload().optional(),
      /** Must occur in one datagram that comes back; absent: any datagram will do. */
      expect: payload().optional(),
      /** How `send` and `expect` are written. */
      payload_format: z.enum(['text', 'hex']).default('text'),
      /** How often the datagram is sent while no answer comes, since the network may lose one. */
      tries: z.int().min(1).max(5).default(3),
      ...addressFields(),
    })
    .refine(
      (all) =>
        all.payload_format === 'text' || [all.send, all.expect].every((each) => each === undefined || isHex(each)),
      {
        message: 'With payload_format hex, send and expect are pairs of hexadecimal digits.',
        path: ['payload_format'],
      },
    ),
);
export type UdpSettings = z.infer<ReturnType<typeof udpSettings>>;

/** A UDP service: it answers a datagram, as expected where that is asked for. */
export const udp = conversation({
  type: 'udp',
  summary: 'A UDP port: a datagram is sent and answered as expected',
  reference: {
    targets: ['server.example.com:9000', 'udp://server.example.com:9000'],
    settings: { send: 'ping', expect: 'pong' },
    phases: ['dns', 'first_byte'],
    details: {},
  },
  settings: udpSettings,
  peer: 'the expected service',
  codes: 'response_mismatch',
  target: { plain: { udp: undefined } },
  talk: async (session, { send, expect, payload_format: format, tries }) => {
    const expected = expect === undefined ? undefined : bytesOf(expect, format);
    await session.ask({
      message: send === undefined ? Buffer.alloc(0) : bytesOf(send, format),
      accept: (bytes) => {
        if (bytes.length > 0) session.evidence = { body: readable(bytes) };
        return expected === undefined || bytes.includes(expected) ? bytes : undefined;
      },
      tries,
      garbled: failed('response_mismatch', 'What came back does not hold what is expected.'),
    });
  },
});
