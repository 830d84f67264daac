import { invalidInput, Problem, statusPageLimits, subscriberKinds } from '@parallax/api-contract';
import type { InputError } from '@parallax/api-contract';
import { readTable } from '../../../monitoring/monitors/index.ts';
import { locales } from '../view/locale.ts';
import type { Locale } from '../view/locale.ts';
import { targetOf } from './target.ts';
import type { SubscriberTarget } from './target.ts';

/** Somebody whom an editor adds; the language null: that of the page. */
export type GivenSubscriber = SubscriberTarget & {
  readonly componentIds: readonly string[];
  readonly locale: Locale | null;
};

type Entry = {
  readonly kind: (typeof subscriberKinds)[number];
  readonly target: string;
  readonly component_ids: readonly string[];
  readonly locale?: Locale | null | undefined;
};

/** Reads what a body names. @throws Problem `invalid_input` that names each target that cannot be used by its place */
export function givenSubscribers(entries: readonly Entry[]): GivenSubscriber[] {
  const errors: InputError[] = [];
  const given = entries.flatMap((entry, index): GivenSubscriber[] => {
    const target = targetOf(entry.kind, entry.target);
    if (target !== undefined) {
      return [{ ...target, componentIds: entry.component_ids, locale: entry.locale ?? null }];
    }
    const message = entry.kind === 'email' ? 'must be a mail address' : 'must be the http or https URL of a webhook';
    errors.push({ in: 'body', path: `/subscribers/${index}/target`, code: 'invalid_value', message });
    return [];
  });
  const [first] = errors;
  if (first !== undefined) throw new Problem('invalid_input', `${first.path} ${first.message}`, { errors });
  return given;
}

const componentForm = /^[a-z0-9]{12}$/;

/** Reads a CSV file. @throws Problem `invalid_input` */
export function subscribersOfFile(bytes: Buffer | undefined): GivenSubscriber[] {
  const { rows, columns } = readTable(bytes?.toString('utf8').replaceAll('\0', '\uFFFD') ?? '');
  if (!columns.has('target')) throw invalidInput('body', '', 'csv', 'the file has no column target');
  const most = statusPageLimits.addedSubscribers;
  if (rows.length > most) throw invalidInput('body', '', 'too_many_rows', `a file has at most ${most} rows; divide it`);
  return rows.map(({ cells }, index) => {
    const wrong = (what: string): Problem =>
      invalidInput('body', '', 'invalid_value', `the ${what} of row ${index + 1} below the header cannot be used`);
    const word = (cells.get('kind') ?? 'email').trim().toLowerCase();
    const kind = subscriberKinds.find((each) => each === word);
    if (kind === undefined) throw wrong('kind');
    const target = targetOf(kind, cells.get('target') ?? '');
    if (target === undefined) throw wrong('target');
    const language = cells.get('locale')?.trim().toLowerCase() ?? null;
    const locale = language === null ? null : locales.find((each) => each === language);
    if (locale === undefined) throw wrong('locale');
    const componentIds = (cells.get('component_ids') ?? '').split(/\s+/).filter((id) => id !== '');
    if (componentIds.length > statusPageLimits.items || componentIds.some((id) => !componentForm.test(id))) {
      throw wrong('component_ids');
    }
    return { ...target, componentIds, locale };
  });
}
