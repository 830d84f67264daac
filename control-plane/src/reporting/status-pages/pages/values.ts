import { isDeepStrictEqual } from 'node:util';
import { invalidInput } from '@parallax/api-contract';
import type {
  CreateStatusPage,
  StatusPageColoursInput,
  StatusPageThemeInput,
  UpdateStatusPage,
} from '@parallax/api-contract';
import { isZone } from '../../../response/maintenance/index.ts';
import { itemsOfBody } from './items.ts';
import type { ItemValues } from './items.ts';
import type { PageRow, StoredTheme } from './row.ts';
import { isSlugOf, slugOfName } from './slug-of-name.ts';
import { requireContrast } from './theme.ts';

/** The plain fields of a page beside its slug and its items, as they are stored. */
export type PageValues = Omit<
  PageRow,
  'id' | 'workspace_id' | 'public_id' | 'slug' | 'items' | 'domain' | 'files' | 'version' | 'created_at' | 'updated_at'
>;

/** What stands beside a body: the clock, the time zone of the account that sends it, and the hash of a password that it gives. */
export type Beside = {
  readonly nowMs: number;
  readonly ownTimezone: string;
  readonly passwordHash?: string | undefined;
};

/** The plain fields of a new page. @throws Problem `invalid_input`, `contrast_too_low` */
export function createdValues(body: CreateStatusPage, beside: Beside): PageValues {
  const timezone = body.timezone ?? beside.ownTimezone;
  requireZone(timezone);
  if (body.theme != null) requireContrast(body.theme);
  return {
    name: body.name,
    description: body.description ?? '',
    is_published: body.is_published,
    noindex: body.noindex,
    locale: localeAmong(body.locales, body.locale),
    locales: body.locales,
    timezone,
    days: body.days,
    theme: body.theme == null ? null : storedThemeOf(body.theme),
    links: body.links,
    ...announcementOf(body.announcement ?? null, beside.nowMs),
    embed_origins: body.embed_origins,
    automatic_incidents: body.automatic_incidents,
    delay_minutes: body.delay_minutes,
    notify_automatic: body.notify_automatic,
    password_hash: beside.passwordHash ?? null,
    allowed_mail_domains: body.allowed_mail_domains,
    allowed_addresses: body.allowed_addresses,
    subscribe: body.subscribe,
  };
}

/** What a page becomes by a change, and which plain fields differ. @throws Problem `invalid_input`, `contrast_too_low` */
export function changedValues(
  row: PageRow,
  body: UpdateStatusPage,
  beside: Beside,
): { readonly values: PageValues; readonly fields: readonly string[] } {
  const before = plainOf(row);
  const locales = body.locales ?? row.locales;
  const values: PageValues = {
    name: body.name ?? row.name,
    description: body.description === undefined ? row.description : (body.description ?? ''),
    is_published: body.is_published ?? row.is_published,
    noindex: body.noindex ?? row.noindex,
    locale: localeAmong(locales, body.locale === undefined ? row.locale : body.locale),
    locales,
    timezone: body.timezone === undefined ? row.timezone : (body.timezone ?? beside.ownTimezone),
    days: body.days ?? row.days,
    theme: body.theme === undefined ? row.theme : body.theme === null ? null : storedThemeOf(body.theme),
    links: body.links ?? row.links,
    ...(body.announcement === undefined
      ? { announcement: row.announcement, announcement_until: row.announcement_until }
      : announcementOf(body.announcement, beside.nowMs, row.announcement_until)),
    embed_origins: body.embed_origins ?? row.embed_origins,
    automatic_incidents: body.automatic_incidents ?? row.automatic_incidents,
    delay_minutes: body.delay_minutes ?? row.delay_minutes,
    notify_automatic: body.notify_automatic ?? row.notify_automatic,
    password_hash: body.password === undefined ? row.password_hash : (beside.passwordHash ?? null),
    allowed_mail_domains: body.allowed_mail_domains ?? row.allowed_mail_domains,
    allowed_addresses: body.allowed_addresses ?? row.allowed_addresses,
    subscribe: body.subscribe ?? row.subscribe,
  };
  if (values.timezone !== row.timezone) requireZone(values.timezone);
  if (body.theme != null && !isDeepStrictEqual(values.theme, row.theme)) requireContrast(body.theme);
  const stored = new Map<string, unknown>(Object.entries(before));
  const fields = Object.entries(values).flatMap(([field, value]) =>
    isDeepStrictEqual(value, stored.get(field)) ? [] : [field === 'password_hash' ? 'password' : field],
  );
  return { values, fields };
}

/** The items that a change replaces those of a page with; undefined where it changes none. */
export function changedItems(row: PageRow, body: UpdateStatusPage): readonly ItemValues[] | undefined {
  if (body.items === undefined) return undefined;
  const items = itemsOfBody(body.items);
  const present = row.items.map(({ component_id: _name, ...item }) => item);
  return isDeepStrictEqual(items, present) ? undefined : items;
}

/** Which slug a change asks for. */
export type WantedSlug =
  | { readonly kind: 'kept' }
  | { readonly kind: 'given'; readonly slug: string }
  /** That of the name, with a number where it is taken. */
  | { readonly kind: 'named'; readonly base: string };

/** The slug that a body asks for. @param present that of the page; absent for a new one */
export function wantedSlug(given: string | null | undefined, name: string, present?: string): WantedSlug {
  if (given === undefined && present !== undefined) return { kind: 'kept' };
  if (given != null) return given === present ? { kind: 'kept' } : { kind: 'given', slug: given };
  const base = slugOfName(name);
  return present !== undefined && isSlugOf(present, base) ? { kind: 'kept' } : { kind: 'named', base };
}

function plainOf(row: PageRow): PageValues {
  const { id: _id, workspace_id: _workspace, public_id: _public, slug: _slug, items: _items, ...rest } = row;
  const { version: _version, created_at: _created, updated_at: _updated, ...more } = rest;
  const { domain: _domain, files: _files, ...plain } = more;
  return plain;
}

function storedThemeOf({ scheme, light, dark, font, radius }: StatusPageThemeInput): StoredTheme {
  return { scheme, light: given(light), dark: given(dark), font, radius };
}

function given({ background, surface, text, accent }: StatusPageColoursInput): StoredTheme['light'] {
  return {
    ...(background == null ? {} : { background }),
    ...(surface == null ? {} : { surface }),
    ...(text == null ? {} : { text }),
    ...(accent == null ? {} : { accent }),
  };
}

/** @param storedUntil a time that stands there already may be repeated when it has passed */
function announcementOf(
  announcement: CreateStatusPage['announcement'] | null,
  nowMs: number,
  storedUntil: number | null = null,
): Pick<PageValues, 'announcement' | 'announcement_until'> {
  if (announcement == null) return { announcement: null, announcement_until: null };
  const untilMs = announcement.until == null ? null : Date.parse(announcement.until);
  if (untilMs !== null && untilMs <= nowMs && untilMs !== storedUntil) {
    throw invalidInput('body', '/announcement/until', 'in_the_past', 'lies in the past');
  }
  return { announcement: announcement.text, announcement_until: untilMs };
}

/** @throws Problem `invalid_input` for a language that the page is not written in */
function localeAmong(locales: readonly ('en' | 'ru')[], wanted: 'en' | 'ru' | null | undefined): 'en' | 'ru' {
  if (wanted == null) return locales.includes('en') ? 'en' : (locales[0] ?? 'en');
  if (locales.includes(wanted)) return wanted;
  throw invalidInput('body', '/locale', 'invalid_value', `must be one of locales, which are ${locales.join(', ')}`);
}

function requireZone(timezone: string): void {
  if (isZone(timezone)) return;
  throw invalidInput('body', '/timezone', 'unknown_timezone', 'must be an IANA time zone such as Europe/Berlin');
}
