import { ResultColumns } from '../columns.ts';
import type { ResultRow } from '../columns.ts';

/*
 * What is stored must be readable for ever, so the bytes of chunks of every kind are written down here. Should rows be written in fewer bytes one
 * day, what stands here must still be read as these rows.
 */

export const hourUs = 3_600_000_000;
const [msUs, secondUs] = [1_000, 1_000_000];

/** A result of a check at a time since the hour's begin that took 30 ms, with its receipt since then. */
export const row = (sinceUs: number, receiptUs: number, changes: Partial<ResultRow> = {}): ResultRow => ({
  eUs: hourUs + sinceUs,
  receivedUs: hourUs + receiptUs,
  probeRevision: 1,
  flags: 0,
  freshS: 160,
  totalUs: 30_000,
  dnsUs: null,
  connectUs: null,
  tlsUs: null,
  firstByteUs: null,
  transferUs: null,
  error: 0,
  ...changes,
});
export const columnsOf = (rows: readonly ResultRow[]): ResultColumns => {
  const columns = new ResultColumns(1);
  for (const each of rows) columns.push(each);
  return columns;
};
export const rowsOf = (columns: ResultColumns): ResultRow[] =>
  Array.from({ length: columns.length }, (_, at) => columns.row(at));

/** Checks every minute, whose receipts are the given microseconds after them. */
export const received = (...afterUs: readonly number[]): ResultRow[] =>
  afterUs.map((us, at) => row(at * 60 * secondUs, at * 60 * secondUs + us));

export const storedChunks: readonly (readonly [what: string, rows: readonly ResultRow[], hex: string])[] = [
  ['one row', [row(5, 40_123)], '01b03ac1a02000020a00f0c0d48105a493d600205b4e'],
  [
    'one row of today',
    [row(1_763_800_000_000_000, 1_763_800_000_040_000)],
    '01d1e4c1a02000020a00f0c0d4cd001408872b440600017102',
  ],
  [
    'two rows: no schedule',
    [row(0, 40_001), row(60 * secondUs, 60_040_002)],
    '01ba2882414100041400e081a903014827ad01d0000e274f0b389c1c2ae08420',
  ],
  [
    'three rows on a schedule that is off by a little: every 60 s, the greater distance of the two',
    [row(0, 33_000), row(20_000_300, 20_050_000), row(80_000_100, 80_041_000)],
    '01686ac2414100041400e081a903014827ad0d3e40300232b29698ffff4390a5a00fac10061101',
  ],
  [
    'a schedule of 2 s with a gap, a check beside it, and noise to both sides',
    [0, 2_000_400, 3_999_700, 10_000_200, 11_500_000, 12_000_100].map((us) => row(us, us + 40_000)),
    '01e84a83838200082800c003530702904e5a0b4e00ea08223890bb02f9ffff0934f46e3ac8001c64',
  ],
  [
    'distances below half a second: no schedule; receipts in microseconds',
    [row(0, 30_000), row(300_000, 330_002), row(450_007, 480_005), row(800_000, 830_011)],
    '01df9c03838200082800c003530702904e5a039b26f0490200e03e4920a12f088c14148206',
  ],
  [
    'half a second between them is a schedule of one',
    [0, 500_000, 1_000_000].map((us) => row(us, us + 40_000)),
    '010f51c2414100041400e081a903014827ad8302800400feff3f81845e1348e821204e0802',
  ],
  [
    'one receipt for all, after a backlog',
    [0, 60, 120].map((s) => row(s * secondUs, 200_000_123)),
    '0107efc2414100041400e081a903014827ad0d1e820080db135e5f',
  ],
  [
    'receipts in whole milliseconds',
    received(41 * msUs, 33 * msUs, 45 * msUs),
    '010d05c2414100041400e081a903014827ad0d1e8200c480be82fe84a00c',
  ],
  [
    'receipts in quarters of a second and 7 µs',
    received(250_007, 500_007, 250_007),
    '018717c2414100041400e081a903014827ad0d1e82002441423f7c4150',
  ],
  [
    'receipts most of which are whole milliseconds: two of three',
    received(41_000, 33_001, 45_000),
    '01e666c2414100041400e081a903014827ad0d1e8200a8a00f8c1046e0058000',
  ],
  [
    'receipts of which the first is no whole milliseconds',
    received(41_001, 33_000, 45_000),
    '0108ebc2414100041400e081a903014827ad0d1e8200a8a00f8c1046e000c000',
  ],
  [
    'receipts half of which are whole milliseconds',
    received(41_000, 33_001, 45_000, 52_501),
    '01626403838200082800c003530702904e5a1b3c04012808ec6172f7e70300f876b13001',
  ],
  [
    'receipts two in five of which are whole milliseconds',
    received(41_001, 33_000, 45_000, 52_501, 44_007),
    '017b3f43838200082800c003530702904e5a1b3c04012808ec617037e803000077b530ff55',
  ],
  [
    'receipts in steps of 500 µs, most of them whole milliseconds',
    received(41_000, 33_500, 45_000, 52_000),
    '01927503838200082800c003530702904e5a1b3c040150411f58218c009b4b0000f4010000',
  ],
  [
    'receipts before the epoch, and before the check',
    [row(0, -hourUs - 3), row(secondUs, -hourUs + 499)],
    '01d28e82414100041400e081a903014827ad01a08084bec47e325fe0554fd7feffdf727c',
  ],
  [
    'each phase by itself, all of them, and none',
    [
      row(0, 40_000, { dnsUs: 1_000, totalUs: 1_007 }),
      row(60 * secondUs, 60_040_000, { connectUs: 2_000, totalUs: 2_006 }),
      row(120 * secondUs, 120_040_000, { tlsUs: 3_000, totalUs: 3_005 }),
      row(180 * secondUs, 180_040_000, { firstByteUs: 4_000, totalUs: 4_004 }),
      row(240 * secondUs, 240_040_000, { transferUs: 5_000, totalUs: 5_003 }),
      row(300 * secondUs, 300_040_000, {
        dnsUs: 1_100,
        connectUs: 2_200,
        tlsUs: 3_300,
        firstByteUs: 4_400,
        transferUs: 5_500,
        totalUs: 16_502,
      }),
      row(360 * secondUs, 360_040_000, { totalUs: 1 }),
    ],
    '017f11c3870b0220a0802008808002842000020a208200082800090220a0002808808002be2000020a000826a8e0820c36e860808589ffff3fc8023098f8ff7f045900869cffff9fb014a08189ffff4f200bd0f0d5ffff27f4110c1a0e00014827ad0d1e8200a4011c4e0e01714210',
  ],
  [
    'phases of 0 and below, a total below their sum, a check that ended before its hour',
    [
      row(0, 40_000, { dnsUs: 0, connectUs: -5, totalUs: -20 }),
      row(9, 40_000, { dnsUs: 700, connectUs: 30, totalUs: 9 }),
    ],
    '01ee9c824141000414300228bcfeff5fe15580c2ffffdf180954a2fdff9f222c2000e9a43500440202e204',
  ],
  [
    'a few long durations among short ones, of fewer rows than are looked at to tell',
    [0, 1_300_000_001, 0, 1_900_000_700, 0, 0, 0, 1_500_000_000].map((us, at) =>
      row(at * 60 * secondUs, at * 60 * secondUs + 2_000 * secondUs, { totalUs: 30_000 + us }),
    ),
    '0190c204060501105000a807a62e3c41100cf0c190a265ffffcffd07afefffff3a5ec3eb0b08403a696df01004200de070f20ca025e60c4150010110040f',
  ],
  [
    'failures among successes, of two revisions',
    [
      row(0, 40_000),
      row(60 * secondUs, 60_040_000, { flags: 2, error: 11, totalUs: 10_000_500 }),
      row(120 * secondUs, 120_040_000, { probeRevision: 2, freshS: 85 }),
    ],
    '01004dc2c28200082800081284802216100438aa0040b0a0c1610f4c1d00008068041300000008403a696df01004200de070720888730150',
  ],
];
