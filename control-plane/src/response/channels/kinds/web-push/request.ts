import { createHash } from 'node:crypto';
import webPush from 'web-push';
import type { Message } from '../../../messages/index.ts';
import type { OutgoingRequest, SubscribedBrowser } from '../../channel.ts';

/** Who sends, to a push service (RFC 8292). */
export type Sender = {
  readonly publicKey: string;
  readonly privateKey: string;
  /** Where a push service finds whoever is responsible: an https or mailto URL. */
  readonly subject: string;
};

/** How a push service is to treat a message (RFC 8030, section 5). */
export type Treatment = {
  readonly ttlSeconds: number;
  readonly urgency: 'very-low' | 'low' | 'normal' | 'high';
  /** A later message with the same one takes the place of one that was not delivered yet. At most 32 characters of base64url. */
  readonly topic: string;
};

// What nobody has read for a day is history; a test is over sooner.
const dayS = 86_400;
const testS = 600;

/** Phones that save their battery are woken for what is urgent only. */
export function treatmentOf(message: Pick<Message, 'kind' | 'state' | 'severity' | 'subjectKey'>): Treatment {
  const isUrgent = message.kind === 'test' || (message.state === 'problem' && message.severity !== 'minor');
  return {
    ttlSeconds: message.kind === 'test' ? testS : dayS,
    urgency: isUrgent ? 'high' : message.state === 'information' ? 'low' : 'normal',
    topic: createHash('sha256').update(message.subjectKey).digest('base64url').slice(0, 32),
  };
}

/**
 * Whom push services are told to turn to. They want an https or mailto URL, and one of them refuses `localhost`
 * (developer.apple.com: sending web push notifications); an installation without a public https URL has no better one to give.
 */
export function subjectOf(publicUrl: string): string {
  const url = new URL(publicUrl);
  const isNamed = /\.[a-z-]+$/i.test(url.hostname);
  if (url.protocol === 'https:' && isNamed) return url.origin;
  return `mailto:postmaster@${isNamed ? url.hostname : 'parallax.invalid'}`;
}

/** One message to one browser, encrypted for it (RFC 8291) and signed for its push service. The key pair of the encryption is new each time. */
export function pushRequest(
  browser: SubscribedBrowser,
  payload: string,
  sender: Sender,
  treatment: Treatment,
): OutgoingRequest {
  const details = webPush.generateRequestDetails({ endpoint: browser.endpoint, keys: { ...browser.keys } }, payload, {
    contentEncoding: 'aes128gcm',
    vapidDetails: { subject: sender.subject, publicKey: sender.publicKey, privateKey: sender.privateKey },
    TTL: treatment.ttlSeconds,
    urgency: treatment.urgency,
    topic: treatment.topic,
    // Those of the library's own are neither set nor read: it is process-wide.
    gcmAPIKey: '',
  });
  const { 'Content-Length': _length, ...headers } = details.headers as Record<string, string | number>;
  const { pathname, search } = new URL(browser.endpoint);
  const authorization = String(headers['Authorization'] ?? '');
  return {
    method: 'POST',
    url: browser.endpoint,
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)])),
    body: details.body,
    secrets: [`${pathname}${search}`, browser.keys.auth, authorization].filter((secret) => secret.length > 1),
  };
}
