import ipaddr from 'ipaddr.js';

/** One address of every range that is not public, and the addresses of clouds that hand out credentials. */
const v4 = [
  '0.0.0.0',
  '0.1.2.3',
  '10.0.0.1',
  '100.64.0.1',
  '100.100.100.200',
  '127.0.0.1',
  '127.255.255.254',
  '168.63.129.16',
  '169.254.169.254',
  '169.254.170.2',
  '172.16.0.1',
  '172.31.255.255',
  '192.0.0.1',
  '192.0.2.1',
  '192.168.1.1',
  '198.18.0.1',
  '198.19.255.255',
  '198.51.100.1',
  '203.0.113.1',
  '224.0.0.1',
  '240.0.0.1',
  '255.255.255.255',
];
const v6 = [
  '::',
  '::1',
  '100::1',
  '64:ff9b:1::1',
  '2001:2::1',
  '2001:db8::1',
  '3fff::1',
  '5f00::1',
  'fc00::1',
  'fd00:ec2::254',
  'fd20:ce::254',
  'fe80::1',
  'fe80::a9fe:a9fe',
  'fe80::1%lo',
  'fec0::1',
  'ff02::1',
];

/** Names in a hosts file and what they stand for. */
export const deniedNames: ReadonlyArray<readonly [string, string]> = [
  ...v4.map((address, index) => [`four-${index}.test`, address] as const),
  ...v6.filter((address) => !address.includes('%')).map((address, index) => [`six-${index}.test`, address] as const),
  ...v4.map((address, index) => [`mapped-${index}.test`, `::ffff:${address}`] as const),
];

/** Whether an address is one that nothing may arrive at. */
export function isDeniedAddress(address: string): boolean {
  const parsed = ipaddr.process(address.replace(/%.*$/, ''));
  return parsed.range() !== 'unicast' || v4.includes(parsed.toString());
}

/** The same addresses as URL parsers, resolvers and the kernel read them, some thousand in all. */
export function deniedSpellings(): readonly string[] {
  return [
    ...new Set([
      ...v4.flatMap(spellingsOfFour),
      ...v6.flatMap(spellingsOfSix),
      'localhost',
      'LOCALHOST.',
      'a.localhost',
    ]),
  ];
}

function spellingsOfFour(address: string): readonly string[] {
  const bytes = address.split('.').map(Number);
  const [a = 0, b = 0, c = 0, d = 0] = bytes;
  const number = ((a * 256 + b) * 256 + c) * 256 + d;
  const hex = (value: number, width = 0) => value.toString(16).padStart(width, '0');
  const octal = (value: number) => `0${value.toString(8)}`;
  const groups = `${hex(a * 256 + b)}:${hex(c * 256 + d)}`;
  const wide = address
    .split('')
    .map((each) => (each === '.' ? each : String.fromCodePoint(each.charCodeAt(0) + 0xfee0)))
    .join('');
  return [
    address,
    `${address}.`,
    String(number),
    `0x${hex(number)}`,
    `0X${hex(number, 8).toUpperCase()}`,
    `0${number.toString(8)}`,
    bytes.map((each) => `0x${hex(each)}`).join('.'),
    bytes.map(octal).join('.'),
    bytes.map((each) => `000${octal(each)}`).join('.'),
    `${a}.${(b * 256 + c) * 256 + d}`,
    `${a}.${b}.${c * 256 + d}`,
    `0x${hex(a)}.${b}.${octal(c)}.${d}`,
    `${a}.0x${hex((b * 256 + c) * 256 + d)}`,
    wide,
    address.replaceAll('.', '。'),
    `%3${address[0]}${address.slice(1)}`,
    `::ffff:${address}`,
    `::ffff:${groups}`,
    `0:0:0:0:0:FFFF:${groups.toUpperCase()}`,
    `::ffff:0:${groups}`,
    `::${groups}`,
    `64:ff9b::${groups}`,
    `64:ff9b::${address}`,
    `2002:${groups}::`,
    `2002:${groups}::1`,
    `2001:0:${groups}::`,
    `2001:0:5db8:d822:0:0:${hex(0xffff - (a * 256 + b))}:${hex(0xffff - (c * 256 + d))}`,
  ];
}

function spellingsOfSix(address: string): readonly string[] {
  if (address.includes('%')) return [address, address.replace('%', '%25')];
  const parsed = ipaddr.parse(address) as ipaddr.IPv6;
  return [address, address.toUpperCase(), parsed.toNormalizedString()];
}
