import { z } from 'zod';
import { descriptionSchema } from './monitor-shapes.ts';
import {
  bodyId,
  distinctIds,
  hasControlCharacter,
  instant,
  localeInput,
  nameSchema,
  orDefault,
  timestamp,
} from './shared.ts';
import { pageAccessAnswer, pageAccessFields } from './status-page-access.ts';
import { webAddress } from './webhook-fields.ts';

/** Bounds of status pages. */
export const statusPageLimits = {
  ofWorkspace: 50,
  items: 200,
  links: 5,
  embedOrigins: 20,
  mostDelayMinutes: 60,
  /** A former slug leads to its page for so long. */
  formerSlugDays: 90,
  /** Nobody else may take the slug of a deleted page for so long, and its row stays. */
  deletedDays: 30,
  /** Slugs that a workspace keeps from others without using them; the oldest beyond that are free at once. Without a bound, one account could hold every good name. */
  heldSlugs: 200,
  /** `_parallax.` before it must fit into a name of the DNS. */
  domainCharacters: 243,
  /** A domain whose proof is gone is served for so long. */
  missingDays: 7,
  /** The size of a PNG or WebP. */
  pictureBytes: 500_000,
  /** The length of each of its sides. */
  picturePixels: 2_048,
  vectorBytes: 100_000,
  /** Subscribers that one request may add. */
  addedSubscribers: 500,
  /** One who does not confirm is forgotten after so long. */
  pendingDays: 7,
  /** One who has unsubscribed, or could not be reached, is. */
  unsubscribedDays: 30,
} as const;

/** Pictures that a page has. */
export const statusPageFileKinds = ['logo-light', 'logo-dark', 'favicon'] as const;
export type StatusPageFileKind = (typeof statusPageFileKinds)[number];
export const statusPageFileTypes = ['png', 'webp', 'svg'] as const;
export type StatusPageFileType = (typeof statusPageFileTypes)[number];

export const statusPageItemTypes = ['monitor', 'heartbeat', 'webhook_check', 'group'] as const;
export type StatusPageItemType = (typeof statusPageItemTypes)[number];
/**
 * Alert channels whose rooms may subscribe to a page, since the URL of a webhook is all that they need. A new one is a word here. Robots of DingTalk
 * and Feishu want a signature by a secret too.
 */
export const roomChannels = ['team-chat', 'chat', 'teams', 'mattermost', 'rocketchat', 'google-chat', 'wecom'] as const;
export type RoomChannel = (typeof roomChannels)[number];
/** Ways of subscribing to a page. */
export const subscriberKinds = ['email', 'webhook', ...roomChannels] as const;
export type SubscriberKind = (typeof subscriberKinds)[number];
const locales = ['en', 'ru'] as const;
const schemes = ['system', 'light', 'dark'] as const;
const fonts = ['system', 'serif', 'mono'] as const;
const dayCounts = [30, 60, 90] as const;
const slugForm = /^[a-z0-9][a-z0-9-]{1,62}$/;

/**
 * Slugs that no page may have: parts of the addresses of the product, and words by which a page could pass for a part of it, such as a form
 * that asks for a password.
 */
export const reservedSlugs: ReadonlySet<string> = new Set(
  (
    'account admin administrator api assets auth badge badges billing calendar console dashboard docs embed feed feeds health help history ' +
    'incidents invite login logout metrics new openapi parallax password ping preview probes public register root security settings setup ' +
    'sign-in sign-up static status status-pages subscribe support system unlock version webhook webhooks well-known www'
  ).split(' '),
);

const slugInput = z
  .string()
  .regex(slugForm, 'must be 2 to 63 lower-case letters, digits and hyphens, and begin with a letter or digit')
  .refine((slug) => !reservedSlugs.has(slug), 'is a reserved word');

/** The host name that a text names, in the form of the DNS; undefined where it is none that a page could have. */
export function domainOf(text: string): string | undefined {
  // What means something in an address would be read as more than a name.
  if (/[\s/\\@:?#%[\]]/.test(text)) return undefined;
  const host = URL.parse(`https://${text}`)?.hostname.replace(/\.$/, '');
  if (host === undefined || host.length > statusPageLimits.domainCharacters || !domainForm.test(host)) return undefined;
  return reservedDomains.test(host) ? undefined : host;
}

/** Two labels or more, of which the last is no number: that would be an address (WHATWG URL, "ends in a number"). */
const domainForm = /^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])?$/;
/** Names that nobody can own (RFC 6761, 6762, 7686, 8375, 9476), and those of networks of their own. */
const reservedDomains =
  /(^|\.)(localhost|local|localdomain|internal|intranet|lan|home|corp|private|arpa|onion|alt|invalid)$/;

/** One line of text. */
const lineOf = (most: number) =>
  z
    .string()
    .normalize('NFC')
    .trim()
    .min(1)
    .max(most)
    .refine((text) => !hasControlCharacter(text), 'must not contain control characters');

const itemInput = z
  .strictObject({
    type: z.enum(statusPageItemTypes),
    id: bodyId,
    display_name: nameSchema.nullish().describe('`null`: the name of the subject itself, which becomes public.'),
    description: descriptionSchema.max(500).nullish(),
    group: nameSchema.nullish().describe('The heading of the section under which it stands; `null`: none.'),
    show_uptime: z.boolean().default(true),
    show_response_times: z.boolean().default(false),
    only_if_degraded: z.boolean().default(false).describe('It is shown only while something is wrong with it.'),
    position: z.number().int().optional().describe('What an answer shows; not read. The order of the list counts.'),
    component_id: z.string().max(50).optional().describe('What an answer shows; not read.'),
  })
  .meta({ id: 'StatusPageItemInput' });
export type StatusPageItemInput = z.output<typeof itemInput>;

const itemsInput = z
  .array(itemInput)
  .max(statusPageLimits.items)
  .superRefine((list, context) => {
    const seen = new Set<string>();
    for (const [index, { type, id }] of list.entries()) {
      const key = `${type} ${id}`;
      if (seen.has(key)) context.addIssue({ code: 'custom', path: [index, 'id'], message: 'is named twice' });
      seen.add(key);
    }
  });

const colour = z
  .string()
  .toLowerCase()
  .regex(/^#[0-9a-f]{6}$/, 'must be a colour such as #14181f');
const coloursInput = z
  .strictObject({
    background: colour.nullish(),
    surface: colour.nullish(),
    text: colour.nullish(),
    accent: colour.nullish(),
  })
  .meta({ id: 'StatusPageColoursInput' });
export type StatusPageColoursInput = z.output<typeof coloursInput>;

const themeInput = z
  .strictObject({
    scheme: z.enum(schemes).default('system').describe('`system`: that of the reader.'),
    light: coloursInput.default({}),
    dark: coloursInput.default({}),
    font: z.enum(fonts).default('system'),
    radius: z.number().int().min(0).max(24).default(8).describe('Of corners, in pixels.'),
  })
  .describe(
    'Texts need a contrast of 4.5 to `background` and `surface`, shapes and `accent` one of 3, by WCAG 2.2; otherwise the answer is 422 ' +
      '`contrast_too_low` and names the nearest colour that passes. A colour that is absent or `null` is that of the product; no `accent`: that of the text.',
  )
  .meta({ id: 'StatusPageThemeInput' });
export type StatusPageThemeInput = z.output<typeof themeInput>;

const mailLink = /^mailto:[A-Za-z0-9.!#$%*+/=^_~-]{1,64}@[A-Za-z0-9.-]{1,253}$/;
const linkInput = z
  .strictObject({
    label: lineOf(100),
    url: z.union([webAddress, z.string().regex(mailLink)], 'must be an http or https URL, or mailto: and an address'),
  })
  .meta({ id: 'StatusPageLinkInput' });

const announcementInput = z
  .strictObject({
    text: z
      .string()
      .normalize('NFC')
      .trim()
      .min(1)
      .max(2_000)
      .refine((text) => !hasControlCharacter(text.replaceAll(/[\t\n\r]/g, ' ')), 'must not contain control characters')
      .describe('Markdown.'),
    until: instant.nullish().describe('It is shown until then; `null`: until it is taken away.'),
  })
  .meta({ id: 'StatusPageAnnouncementInput' });

const origin = z
  .string()
  .max(300)
  .refine((text) => originOf(text) !== undefined, 'must be an origin such as https://www.example.com')
  .overwrite((text) => originOf(text) ?? text);

/** The origin that a text names; undefined where it is none. A path, a wildcard, or a sign that means something in a policy is none. */
function originOf(text: string): string | undefined {
  const url = URL.parse(text);
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) return undefined;
  if (`${url.origin}/` !== url.href || !/^([a-z0-9.-]+|\[[0-9a-f:]+\])$/.test(url.hostname)) return undefined;
  return url.origin;
}

const distinct = <Value>(given: readonly Value[]): Value[] => [...new Set(given)];

const fields = {
  description: descriptionSchema,
  locale: localeInput.describe('The language of readers who ask for none. Default: `en`, or the first of `locales`.'),
  locales: z.array(localeInput).min(1).max(10).overwrite(distinct).describe('The languages in which it can be read.'),
  timezone: z
    .string()
    .min(1)
    .max(100)
    .refine((text) => !hasControlCharacter(text), 'must not contain control characters')
    .describe('An IANA name, such as `Europe/Berlin`: days begin there. Default: your own.'),
  days: z.literal([...dayCounts]).describe('How many days the bars have.'),
  links: z.array(linkInput).max(statusPageLimits.links),
  embedOrigins: z
    .array(origin)
    .max(statusPageLimits.embedOrigins)
    .overwrite(distinct)
    .describe('Whose pages may frame the embed of this one.'),
  automaticIncidents: z.boolean().describe('Incidents that the product opens are public.'),
  delayMinutes: z
    .number()
    .int()
    .min(0)
    .max(statusPageLimits.mostDelayMinutes)
    .describe('An automatic incident, and the word for a component that is down, become public after so long.'),
  notifyAutomatic: z.boolean().describe('Subscribers are told of automatic incidents.'),
  domain: z
    .string()
    .max(300)
    .refine((text) => domainOf(text) !== undefined, 'must be a host name such as status.example.com')
    .overwrite((text) => domainOf(text) ?? text),
  subscribe: z
    .array(z.enum(subscriberKinds))
    .max(subscriberKinds.length)
    .overwrite(distinct)
    .describe('By which ways anybody may subscribe to the page. Empty: it cannot be subscribed to.'),
};

/** Body of POST /status-pages. */
export const createStatusPageSchema = z
  .strictObject({
    workspace_id: bodyId,
    name: nameSchema,
    description: fields.description.nullish(),
    slug: slugInput
      .nullish()
      .describe('Unique over the installation. Default: made from the name, with a number where that is taken.'),
    is_published: z.boolean().default(false).describe('`false`: nobody can read it.'),
    noindex: z.boolean().default(false).describe('Search engines are asked to leave it out.'),
    items: itemsInput.default([]).describe('What it shows, in this order.'),
    locale: fields.locale.nullish(),
    locales: fields.locales.default([...locales]),
    timezone: fields.timezone.nullish(),
    days: fields.days.default(90),
    theme: themeInput.nullish().describe('`null`: that of the product.'),
    links: fields.links.default([]),
    announcement: announcementInput.nullish(),
    embed_origins: fields.embedOrigins.default([]),
    automatic_incidents: fields.automaticIncidents.default(true),
    delay_minutes: fields.delayMinutes.default(0),
    notify_automatic: fields.notifyAutomatic.default(true),
    domain: fields.domain.nullish().describe('A host name of your own; see the route that verifies it.'),
    password: pageAccessFields.password,
    allowed_mail_domains: pageAccessFields.allowedMailDomains.default([]),
    allowed_addresses: pageAccessFields.allowedAddresses.default([]),
    subscribe: fields.subscribe.default(['email']),
  })
  .meta({ id: 'CreateStatusPage' });
export type CreateStatusPage = z.output<typeof createStatusPageSchema>;

/** Body of PUT /status-pages/{id}: an absent key keeps, `null` clears or goes back to the default. */
export const updateStatusPageSchema = z
  .strictObject({
    name: nameSchema.optional(),
    description: fields.description.nullish(),
    slug: slugInput.nullish().describe('The former one leads to the page for 90 days. `null`: made from the name.'),
    is_published: orDefault(z.boolean(), false),
    noindex: orDefault(z.boolean(), false),
    items: orDefault(itemsInput, []).describe('Replaces all. A component that stays keeps its `component_id`.'),
    locale: fields.locale.nullish(),
    locales: orDefault(fields.locales, [...locales]),
    timezone: fields.timezone.nullish(),
    days: orDefault(fields.days, 90),
    theme: themeInput.nullish().describe('Replaced as a whole. `null`: that of the product.'),
    links: orDefault(fields.links, []),
    announcement: announcementInput.nullish(),
    embed_origins: orDefault(fields.embedOrigins, []),
    automatic_incidents: orDefault(fields.automaticIncidents, true),
    delay_minutes: orDefault(fields.delayMinutes, 0),
    notify_automatic: orDefault(fields.notifyAutomatic, true),
    domain: fields.domain.nullish().describe('Another one must be verified anew. `null`: none.'),
    password: pageAccessFields.password,
    allowed_mail_domains: orDefault(pageAccessFields.allowedMailDomains, []),
    allowed_addresses: orDefault(pageAccessFields.allowedAddresses, []),
    subscribe: orDefault(fields.subscribe, ['email']),
  })
  .meta({ id: 'UpdateStatusPage' });
export type UpdateStatusPage = z.output<typeof updateStatusPageSchema>;

/** Body of POST /status-pages/{id}/monitors. */
export const addStatusPageItemsSchema = z
  .strictObject({
    items: itemsInput.min(1).optional(),
    monitor_ids: distinctIds(statusPageLimits.items, 'is named twice', 1).optional(),
  })
  .refine(({ items, monitor_ids: ids }) => (items === undefined) !== (ids === undefined), {
    error: 'give either items or monitor_ids',
  })
  .meta({ id: 'AddStatusPageItems' });
export type AddStatusPageItems = z.output<typeof addStatusPageItemsSchema>;

const itemSchema = z
  .object({
    type: z.enum(statusPageItemTypes),
    id: z.number().int(),
    component_id: z
      .string()
      .describe('Twelve characters that name the component to the public for as long as it stays.'),
    display_name: z.string().nullable(),
    description: z.string(),
    group: z.string().nullable(),
    position: z.number().int().describe('Its place in the list, from 0.'),
    show_uptime: z.boolean(),
    show_response_times: z.boolean(),
    only_if_degraded: z.boolean(),
  })
  .meta({ id: 'StatusPageItem' });

const coloursSchema = z
  .object({
    background: z.string().nullable(),
    surface: z.string().nullable(),
    text: z.string().nullable(),
    accent: z.string().nullable(),
  })
  .meta({ id: 'StatusPageColours' });

/** A status page as every route of its management answers it. */
export const statusPageSchema = z
  .object({
    id: z.number().int(),
    workspace_id: z.number().int(),
    public_id: z.string().describe('Twelve characters that name the page to the public.'),
    name: z.string(),
    description: z.string(),
    slug: z.string(),
    url: z.string().describe('Where the page is: at its domain once that is verified.'),
    is_published: z.boolean(),
    is_empty: z.boolean().describe('It shows nothing: no item was given, or all that it named is gone.'),
    noindex: z.boolean(),
    items: z.array(itemSchema),
    locale: z.enum(locales),
    locales: z.array(z.enum(locales)),
    timezone: z.string(),
    days: z.number().int(),
    theme: z
      .object({
        scheme: z.enum(schemes),
        light: coloursSchema,
        dark: coloursSchema,
        font: z.enum(fonts),
        radius: z.number().int(),
      })
      .nullable(),
    links: z.array(z.object({ label: z.string(), url: z.string() })),
    announcement: z.object({ text: z.string(), until: timestamp.nullable() }).nullable(),
    embed_origins: z.array(z.string()),
    automatic_incidents: z.boolean(),
    delay_minutes: z.number().int(),
    notify_automatic: z.boolean(),
    domain: z.string().nullable().describe('In the form of the DNS: lower case, `xn--` where it has other letters.'),
    domain_state: z
      .enum(['pending', 'verified', 'lost'])
      .nullable()
      .describe(
        `\`pending\`: it waits for its proof. \`verified\`: the page is served there. \`lost\`: the proof was gone for ${statusPageLimits.missingDays} days.`,
      ),
    domain_txt: z.string().nullable().describe('What the TXT record `_parallax.{domain}` must hold.'),
    files: z
      .object({
        'logo-light': z.string().nullable(),
        'logo-dark': z.string().nullable(),
        favicon: z.string().nullable(),
      })
      .describe('Addresses of its pictures.'),
    ...pageAccessAnswer,
    subscribe: z.array(z.enum(subscriberKinds)),
    created_at: timestamp,
    updated_at: timestamp,
    version: z
      .number()
      .int()
      .describe('Counts every change by a route of the page; the ETag. A subject that is deleted leaves without one.'),
  })
  .meta({ id: 'StatusPage' });
export type StatusPage = z.output<typeof statusPageSchema>;
