import { createCipheriv, createDecipheriv, hkdfSync } from 'node:crypto';
import { AssignmentChunk } from '@parallax/wire';
import type { Assignment, Listener } from '@parallax/wire';
import { z } from 'zod';
import type { Moment } from './confirmation-age.ts';

/** What an agent needs to check without its control plane. */
export type KeptAssignments = {
  /** Highest revision that is in it. */
  readonly revision: bigint;
  readonly assignments: readonly Assignment[];
  /** See session.proto. */
  readonly privateTargetsBasis: string;
  /** The product's own listeners: no check may reach them, also while nobody can tell the probe so. */
  readonly deniedListeners: readonly Listener[];
  /** When the control plane was last in touch, so that this was known to hold. */
  readonly confirmed: Moment;
};

/** Whose assignments they are: the number of the probe, and its own secret, of which the key is made. */
export type SealOwner = { readonly probeId: number; readonly secret: Uint8Array };

const magic = Buffer.from('PLXASG\r\n');
/** 2: with the basis of private targets. A file of version 1 would let them all count. */
const version = 2;
const saltBytes = 32;
const ivBytes = 12;
const tagBytes = 16;
/** Magic, version, probe, salt, iv: readable, and vouched for by the seal. */
const clearBytes = magic.length + 1 + 4 + saltBytes + ivBytes;

const headSchema = z.object({
  revision: z.string().regex(/^\d{1,19}$/),
  confirmed: z.object({
    boot_id: z.string(),
    uptime_ms: z.number(),
    monotonic_ms: z.number(),
    wall_ms: z.number(),
    server_ms: z.number(),
  }),
  private_targets_basis: z.string(),
  denied_listeners: z.array(z.object({ address: z.string(), port: z.int() })),
});

/**
 * Seals assignments with AES-256-GCM under a key that HKDF (RFC 5869) makes of the probe's secret, anew for each file.
 * @param random gives so many unpredictable bytes
 */
export function sealAssignments(
  kept: KeptAssignments,
  owner: SealOwner,
  random: (bytes: number) => Uint8Array,
): Buffer {
  const { confirmed } = kept;
  const head: z.input<typeof headSchema> = {
    revision: kept.revision.toString(),
    confirmed: {
      boot_id: confirmed.bootId,
      uptime_ms: confirmed.uptimeMs,
      monotonic_ms: confirmed.monotonicMs,
      wall_ms: confirmed.wallMs,
      server_ms: confirmed.serverMs,
    },
    private_targets_basis: kept.privateTargetsBasis,
    denied_listeners: kept.deniedListeners.map(({ address, port }) => ({ address, port })),
  };
  const headBytes = Buffer.from(JSON.stringify(head));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(headBytes.length);
  const probe = Buffer.alloc(4);
  probe.writeUInt32LE(owner.probeId);
  const salt = random(saltBytes);
  const iv = random(ivBytes);
  const clear = Buffer.concat([magic, Buffer.of(version), probe, salt, iv]);
  const cipher = createCipheriv('aes-256-gcm', keyOf(owner, salt), iv);
  cipher.setAAD(clear);
  return Buffer.concat([
    clear,
    cipher.update(length),
    cipher.update(headBytes),
    cipher.update(AssignmentChunk.encode({ assignments: [...kept.assignments] }).finish()),
    cipher.final(),
    cipher.getAuthTag(),
  ]);
}

/** Opens what `sealAssignments` made. A string says why it cannot be used; nothing of it is then. */
export function openAssignments(bytes: Buffer, owner: SealOwner): KeptAssignments | string {
  if (bytes.length < clearBytes + tagBytes || !bytes.subarray(0, magic.length).equals(magic))
    return 'it is cut off, or no such file';
  if (bytes[magic.length] !== version) return 'another version of the agent wrote it';
  if (bytes.readUInt32LE(magic.length + 1) !== owner.probeId) return 'it belongs to another probe';
  const clear = bytes.subarray(0, clearBytes);
  const salt = clear.subarray(magic.length + 5, magic.length + 5 + saltBytes);
  const decipher = createDecipheriv('aes-256-gcm', keyOf(owner, salt), clear.subarray(-ivBytes));
  decipher.setAAD(clear);
  decipher.setAuthTag(bytes.subarray(-tagBytes));
  try {
    const plain = Buffer.concat([decipher.update(bytes.subarray(clearBytes, -tagBytes)), decipher.final()]);
    const headEnd = 4 + plain.readUInt32LE(0);
    const head = headSchema.parse(JSON.parse(plain.toString('utf8', 4, headEnd)));
    const { confirmed } = head;
    return {
      revision: BigInt(head.revision),
      assignments: AssignmentChunk.decode(plain.subarray(headEnd)).assignments,
      privateTargetsBasis: head.private_targets_basis,
      deniedListeners: head.denied_listeners,
      confirmed: {
        bootId: confirmed.boot_id,
        uptimeMs: confirmed.uptime_ms,
        monotonicMs: confirmed.monotonic_ms,
        wallMs: confirmed.wall_ms,
        serverMs: confirmed.server_ms,
      },
    };
  } catch {
    return 'it was altered or cut off, or sealed with the key of another probe';
  }
}

function keyOf(owner: SealOwner, salt: Uint8Array): Buffer {
  return Buffer.from(
    hkdfSync('sha256', owner.secret, salt, `parallax sealed assignments of probe ${owner.probeId}`, 32),
  );
}
