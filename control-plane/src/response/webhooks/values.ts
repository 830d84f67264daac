import { isDeepStrictEqual } from 'node:util';
import { defaultWebhookEvents } from '@parallax/api-contract';
import type { CreateWebhook, UpdateWebhook } from '@parallax/api-contract';
import type { WebhookRow } from './row.ts';
import type { WebhookSecrets } from './seal.ts';

/** The plain fields of a webhook beside its scope, as they are stored. */
export type WebhookValues = Pick<
  WebhookRow,
  | 'name'
  | 'description'
  | 'is_active'
  | 'events'
  | 'during_maintenance'
  | 'signature'
  | 'content'
  | 'max_per_second'
  | 'origin'
  | 'header_names'
>;

const placeOf = (url: string, headers: Readonly<Record<string, string>>) => ({
  origin: new URL(url).origin,
  header_names: Object.keys(headers).toSorted(),
});

/** The plain fields of a new webhook, with what was left out. */
export function createdValues(body: CreateWebhook): WebhookValues {
  return {
    name: body.name,
    description: body.description ?? '',
    is_active: body.is_active,
    events: [...(body.events ?? defaultWebhookEvents)],
    during_maintenance: body.during_maintenance,
    signature: body.signature,
    content: body.content,
    max_per_second: body.max_per_second ?? null,
    ...placeOf(body.url, body.headers),
  };
}

/** What a webhook becomes by an update, and which fields differ. Headers stay with their host: the credentials of one must not reach another. */
export function changedValues(
  row: WebhookRow,
  secrets: WebhookSecrets,
  body: UpdateWebhook,
): { readonly values: WebhookValues; readonly secrets: WebhookSecrets; readonly fields: readonly string[] } {
  const url = body.url ?? secrets.url;
  const isOtherHost = new URL(url).host !== new URL(secrets.url).host;
  const headers = body.headers ?? (isOtherHost ? {} : secrets.headers);
  const values: WebhookValues = {
    name: body.name ?? row.name,
    description: body.description === undefined ? row.description : (body.description ?? ''),
    is_active: body.is_active ?? row.is_active,
    events: body.events === undefined ? row.events : [...(body.events ?? defaultWebhookEvents)],
    during_maintenance: body.during_maintenance ?? row.during_maintenance,
    signature: body.signature ?? row.signature,
    content: body.content ?? row.content,
    max_per_second: body.max_per_second === undefined ? row.max_per_second : body.max_per_second,
    ...placeOf(url, headers),
  };
  const fields = [
    ...Object.entries(values).flatMap(([name, value]) =>
      name === 'origin' || name === 'header_names' || isDeepStrictEqual(value, row[name as keyof WebhookValues])
        ? []
        : [name],
    ),
    ...(url === secrets.url ? [] : ['url']),
    ...(isDeepStrictEqual(headers, secrets.headers) ? [] : ['headers']),
  ];
  return { values, secrets: { ...secrets, url, headers }, fields };
}
