import type { AnySettings, TargetRule } from '../../channel.ts';

/** A telephone number in E.164, with its plus: 8 to 15 digits. Spaces, dots, hyphens and parentheses are how people write it. */
export function parsePhoneNumber(text: string) {
  const target = text.trim().replaceAll(/[\s().\u2010\u2011-]/g, '');
  if (/^\+[1-9]\d{7,14}$/.test(target)) return { ok: true, target } as const;
  return { ok: false, problem: 'a telephone number begins with "+" and the country code: +49 151 23456789' } as const;
}

/** Enough of a number to know one's own. */
export function maskPhoneNumber(target: string): string {
  return `…${target.slice(-4)}`;
}

export const phoneNumber: TargetRule<AnySettings> = {
  label: 'telephone number in E.164',
  example: '+4915123456789',
  isGlobal: true,
  parse: parsePhoneNumber,
  mask: maskPhoneNumber,
};
