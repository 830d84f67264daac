import { z } from 'zod';
import { lazily } from '../lazily.ts';
import type { HostPort } from '../net/host.ts';
import type { Session } from '../net/session.ts';
import type { GameFacts } from './facts.ts';

const statusSchema = lazily(() =>
  z.object({
    version: z.object({ name: z.string().optional() }).optional(),
    // Servers that hide how many play leave it out.
    players: z.object({ online: z.int(), max: z.int() }).optional(),
    description: z.unknown().optional(),
  }),
);

/** Server List Ping of Minecraft since 1.7 (minecraft.wiki, "Java Edition protocol/Server List Ping"). */
export async function askMinecraftJava(session: Session, { host, port }: HostPort): Promise<GameFacts> {
  await session.open();
  const name = Buffer.from(host.replace(/^\[|\]$/g, ''), 'utf8');
  const portBytes = Buffer.alloc(2);
  portBytes.writeUInt16BE(port);
  // -1 stands for "no version in particular", 1 for "status".
  const version = Buffer.from([0xff, 0xff, 0xff, 0xff, 0x0f]);
  const handshake = packet(Buffer.concat([version, varint(name.length), name, portBytes, varint(1)]));
  session.say(Buffer.concat([handshake, packet(Buffer.alloc(0))]));
  const text = await session.hear('its status', (bytes) => {
    const size = readVarint(bytes, 0);
    if (size === 'broken') session.breach('It sent no packet.');
    if (size === undefined) return { need: bytes.length + 1 };
    if (size.value < 3 || size.value > 1024 * 1024) session.breach('It sent a packet of an impossible length.');
    if (bytes.length > size.next && bytes[size.next] !== 0) session.breach('It sent another packet than its status.');
    if (bytes.length < size.next + size.value) return { need: size.next + size.value };
    const length = readVarint(bytes, size.next + 1);
    if (length === undefined || length === 'broken' || length.next + length.value > size.next + size.value)
      session.breach('Its status is cut short.');
    return {
      value: bytes.toString('utf8', length.next, length.next + length.value),
      used: size.next + size.value,
    };
  });
  const status = statusSchema().safeParse(parseJson(text));
  if (!status.success) session.breach('Its status is not the JSON that it should be.');
  const { players, version: spoken, description } = status.data;
  return {
    name: plain(description),
    map: '',
    players: players?.online ?? 0,
    maxPlayers: players?.max ?? 0,
    version: spoken?.name ?? '',
  };
}

/** The text of a chat component: a text, or an object with `text` and `extra`. */
function plain(component: unknown, depth = 0): string {
  if (typeof component === 'string') return component.replaceAll(/§./g, '');
  if (typeof component !== 'object' || component === null || depth > 8) return '';
  const own = 'text' in component ? plain(component.text, depth + 1) : '';
  const more = 'extra' in component && Array.isArray(component.extra) ? component.extra.slice(0, 100) : [];
  return `${own}${more.map((each) => plain(each, depth + 1)).join('')}`.slice(0, 1000);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function packet(content: Buffer): Buffer {
  return Buffer.concat([varint(content.length + 1), Buffer.from([0]), content]);
}

export function varint(value: number): Buffer {
  const octets: number[] = [];
  for (let rest = value; ; rest >>>= 7) {
    if (rest < 0x80) return Buffer.from([...octets, rest]);
    octets.push((rest & 0x7f) | 0x80);
  }
}

/** At most 3 bytes, which is what a status can need; undefined while they are not all there. */
function readVarint(
  bytes: Buffer,
  at: number,
): { readonly value: number; readonly next: number } | 'broken' | undefined {
  let value = 0;
  for (let index = 0; index < 3; index += 1) {
    const octet = bytes[at + index];
    if (octet === undefined) return undefined;
    value |= (octet & 0x7f) << (7 * index);
    if (octet < 0x80) return { value, next: at + index + 1 };
  }
  return 'broken';
}
