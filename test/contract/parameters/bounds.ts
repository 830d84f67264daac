import type { ParameterSchema } from '../document.ts';

/** What a query parameter takes, as the specification has it. */
export type Bounds =
  | { readonly kind: 'integer' | 'number'; readonly least: number; readonly most: number; readonly byDefault?: number }
  | { readonly kind: 'boolean'; readonly byDefault?: boolean }
  | {
      readonly kind: 'words';
      readonly words: readonly string[];
      readonly byDefault?: string;
      /** Upper and lower case are one: `test/contract/lenient-input.test.ts` shows what they do. */
      readonly anyCase?: true;
    }
  | { readonly kind: 'text'; readonly least?: number; readonly most: number }
  | { readonly kind: 'instant' }
  /** The name of a time zone. */
  | { readonly kind: 'zone'; readonly byDefault: string }
  /** May stand several times, each time with what `item` takes. */
  | { readonly kind: 'several'; readonly item: Bounds; readonly most: number };

export const id: Bounds = { kind: 'integer', least: 1, most: 2_147_483_647 };
export const page: Bounds = { kind: 'integer', least: 1, most: 10_000, byDefault: 1 };
export const pageSize: Bounds = { kind: 'integer', least: 1, most: 100, byDefault: 20 };
export const search: Bounds = { kind: 'text', most: 200 };
export const yesOrNo = (byDefault?: boolean): Bounds => ({
  kind: 'boolean',
  ...(byDefault === undefined ? {} : { byDefault }),
});
/** Hours that count back from now. */
export const hours = (most: number, byDefault?: number): Bounds => ({
  kind: 'integer',
  least: 1,
  most,
  ...(byDefault === undefined ? {} : { byDefault }),
});

/** Values at each bound and inside of them. */
export function takenBy(bounds: Bounds): readonly string[] {
  switch (bounds.kind) {
    case 'integer': {
      const { least, most } = bounds;
      return distinct([least, least + 1, Math.floor((least + most) / 2), most - 1, most]);
    }
    case 'number': {
      const { least, most } = bounds;
      return distinct([least, least + 0.01, (least + most) / 2, most - 0.001, most]);
    }
    case 'boolean':
      return ['true', 'false'];
    case 'words':
      return bounds.words;
    case 'text':
      return ['x', 'x'.repeat(bounds.most - 1), 'x'.repeat(bounds.most)];
    case 'several':
      return takenBy(bounds.item);
    case 'zone':
      return ['UTC', 'Europe/Berlin', 'Asia/Kolkata'];
    case 'instant':
      return [];
  }
}

const noNumbers = [
  '',
  'x',
  ' ',
  '1e1',
  '0x1',
  '+1',
  '\u0663',
  'NaN',
  'null',
  'Infinity',
  '9'.repeat(20),
  '1\u0000',
  '1,2',
];

/** Values outside of each bound, and what is no value of the kind at all. */
export function refusedBy(bounds: Bounds): readonly string[] {
  switch (bounds.kind) {
    case 'integer':
    case 'number': {
      const { least, most } = bounds;
      const step = bounds.kind === 'integer' ? 1 : 0.01;
      const fractions = bounds.kind === 'integer' ? [`${least}.5`, `${least}.0`] : [`${least}.`, `${least},5`];
      return [...distinct([least - step, most + step, -least]), ...fractions, ` ${most}`, `${most} `, ...noNumbers];
    }
    case 'boolean':
      return ['', '2', '-1', 'yes', 'tRuE ', 'T', ' true', 'false ', 'null', 'undefined', 'truefalse'];
    case 'words': {
      const [first = ''] = bounds.words;
      return [
        '',
        ' ',
        `${first}x`,
        first.slice(1),
        ` ${first}`,
        `${first} `,
        `${first}\u0000`,
        ...(bounds.anyCase === true ? [] : [swapped(first)]),
        'toString',
        '__proto__',
      ];
    }
    case 'text':
      return [
        ...(bounds.least === undefined ? [] : ['']),
        'x'.repeat(bounds.most + 1),
        '\u00e9'.repeat(bounds.most + 1),
        'x\u0000',
      ];
    case 'several':
      return refusedBy(bounds.item);
    case 'zone':
      return ['', 'Mars/Base', '+02:00', ' UTC', 'x'.repeat(65), 'UTC\u0000'];
    case 'instant':
      return [
        '',
        'yesterday',
        '0',
        '1767225600',
        '2026-01-01',
        '2026-01-01T00:00:00',
        '2026-01-01 00:00:00Z',
        '2026-02-30T00:00:00Z',
        '2026-13-01T00:00:00Z',
        '2026-01-01T24:00:01Z',
        ' 2026-01-01T00:00:00Z',
        '2026-01-01T00:00:00Z ',
        `2026-01-01T00:00:00.${'0'.repeat(40)}Z`,
      ];
  }
}

function swapped(word: string): string {
  return word === word.toUpperCase() ? word.toLowerCase() : word.toUpperCase();
}

function distinct(values: readonly number[]): string[] {
  return [...new Set(values.map(String))];
}

/** The same in JSON Schema, as the OpenAPI document has it; descriptions aside. */
export function describedBy(bounds: Bounds): ParameterSchema {
  switch (bounds.kind) {
    case 'integer':
    case 'number':
      return { type: bounds.kind, minimum: bounds.least, maximum: bounds.most, ...defaultOf(bounds) };
    case 'boolean':
      return { type: 'boolean', ...defaultOf(bounds) };
    case 'words':
      return { type: 'string', enum: bounds.words, ...defaultOf(bounds) };
    case 'text':
      return {
        type: 'string',
        ...(bounds.least === undefined ? {} : { minLength: bounds.least }),
        maxLength: bounds.most,
      };
    case 'instant':
      return { type: 'string', format: 'date-time', maxLength: 40 };
    case 'zone':
      return { type: 'string', minLength: 1, maxLength: 64, ...defaultOf(bounds) };
    case 'several': {
      const item = describedBy(bounds.item);
      return { anyOf: [item, { type: 'array', maxItems: bounds.most, items: item }] };
    }
  }
}

function defaultOf({
  byDefault,
}: {
  readonly byDefault?: string | number | boolean;
}): Pick<ParameterSchema, 'default'> {
  return byDefault === undefined ? {} : { default: byDefault };
}

/** What it is when it is left out, as text; undefined: it filters nothing then. */
export function leftOut(bounds: Bounds): string | undefined {
  return 'byDefault' in bounds && bounds.byDefault !== undefined ? String(bounds.byDefault) : undefined;
}
