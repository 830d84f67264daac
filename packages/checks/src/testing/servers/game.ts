import type { Test } from 'tap';
import { startDatagrams } from './datagrams.ts';
import type { Running } from './running.ts';

const four = Buffer.alloc(4, 0xff);
const challenge = Buffer.from('1b2c3d4e', 'hex');
const question = Buffer.concat([four, Buffer.from('TSource Engine Query\0')]);
const info = Buffer.concat([
  four,
  Buffer.from('I\x11Frag \x1bHouse\0de_dust2\0csgo\0Counter-Strike\0', 'latin1'),
  Buffer.from([0x0a, 0x00, 12, 16, 1]),
  Buffer.from('dl\0\x011.38\0', 'latin1'),
]);

/** A server of the Source engine, as Valve describes its queries, that wants its challenge back before it answers: 12 of 16 players. */
export function startSourceGame(t: Test): Promise<Running> {
  return startDatagrams(t, (bytes) => {
    if (!bytes.subarray(0, 25).equals(question)) return undefined;
    return bytes.subarray(25).equals(challenge) ? info : Buffer.concat([four, Buffer.from('A'), challenge]);
  });
}
