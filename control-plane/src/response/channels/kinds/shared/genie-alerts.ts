import type { ChannelIo, Delivered, IncomingResponse } from '../../channel.ts';
import { destinationsWith, secretText } from '../../setting-shapes.ts';
import type { Message } from '../../../messages/index.ts';
import { actionOf, levelOf, sourceOf } from './alarm.ts';
import { cut } from './cut.ts';
import { fieldOf, referenceOf } from './fields.ts';
import { layOut, plain } from './lay-out.ts';
import { isAccepted, type Meaning, meaningForDestination, rateLimited, refusal, secondsToMs } from './refusal.ts';

// Opsgenie's Alert API, which Jira Service Management took over. Both take a request and work on it later: 202 is all that is known.

/** What is asked of one alert; `path` is below the API's address of alerts. */
export type GenieRequest = { readonly path: string; readonly body: Readonly<Record<string, unknown>> };

export const genieDestinations = (described: string) =>
  destinationsWith({ api_key: secretText(200).describe(described) });

const priorities = { critical: 'P1', error: 'P2', warning: 'P3', info: 'P5' } as const;
const source = 'Parallax';
// Limits of the fields, characters.
const mostMessage = 130;
const mostDescription = 15_000;
const mostNote = 25_000;
const mostEntity = 512;

/** The request that a message becomes. The alias names the alert: while one with it is open, a second create only counts up. */
export function genieRequest(message: Message): GenieRequest {
  const byAlias = `/${encodeURIComponent(message.subjectKey)}`;
  const note = layOut(message, plain, mostNote, { links: false });
  const action = actionOf(message);
  if (action === 'close') return { path: `${byAlias}/close?identifierType=alias`, body: { source, note } };
  if (action === 'acknowledge') return { path: `${byAlias}/acknowledge?identifierType=alias`, body: { source, note } };
  // A create that only counts up would drop the new text.
  if (message.kind === 'updated') return { path: `${byAlias}/notes?identifierType=alias`, body: { source, note } };
  return {
    path: '',
    body: {
      message: cut(message.title, mostMessage),
      alias: message.subjectKey,
      description: layOut(message, plain, mostDescription, { title: false }) || message.title,
      priority: priorities[levelOf(message)],
      entity: cut(sourceOf(message), mostEntity),
      source,
      tags: ['parallax', message.severity],
      // Keys and values together may have 8,000 characters.
      details: Object.fromEntries(message.facts.map(({ label, value }) => [cut(label, 100), cut(value, 500)])),
    },
  };
}

/** Sends it. @throws DeliveryError */
export async function askGenie(
  request: GenieRequest,
  url: string,
  apiKey: string,
  title: string,
  io: ChannelIo,
): Promise<Delivered> {
  const answer = await io.request({
    method: 'POST',
    url: `${url}${request.path}`,
    headers: { authorization: `GenieKey ${apiKey}` },
    body: request.body,
    secrets: [apiKey],
  });
  if (isAccepted(answer)) return referenceOf(fieldOf(answer, 'requestId'));
  // Nothing is left to close or to note on: it was deleted over there.
  if (answer.status === 404 && request.path !== '') return {};
  throw refusal(answer, {
    title,
    meaning: meaningOf(answer),
    detail: fieldOf(answer, 'message'),
    secrets: [apiKey],
    now: io.now(),
  });
}

/** How long it throttles stands in a header of its own, not in `Retry-After`. */
function meaningOf({ status, headers }: IncomingResponse): Meaning {
  if (status !== 429) return meaningForDestination(status);
  return { ...rateLimited, retryAfterMs: secondsToMs(Number(headers['x-ratelimit-period-in-sec'])) };
}
