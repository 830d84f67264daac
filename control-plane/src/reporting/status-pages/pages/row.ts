import { statusPageFileKinds, statusPageFileTypes, statusPageItemTypes, subscriberKinds } from '@parallax/api-contract';
import type { StatusPage, StatusPageColoursInput, StatusPageFileKind } from '@parallax/api-contract';
import { z } from 'zod';

const colours = z.object({
  background: z.string().optional(),
  surface: z.string().optional(),
  text: z.string().optional(),
  accent: z.string().optional(),
});

/** A theme as it is stored: colours that are those of the product are left out. */
export const storedTheme = z.object({
  scheme: z.enum(['system', 'light', 'dark']),
  light: colours,
  dark: colours,
  font: z.enum(['system', 'serif', 'mono']),
  radius: z.number(),
});
export type StoredTheme = z.output<typeof storedTheme>;

const itemRow = z.object({
  type: z.enum(statusPageItemTypes),
  id: z.number(),
  component_id: z.string(),
  display_name: z.string().nullable(),
  description: z.string(),
  section: z.string().nullable(),
  show_uptime: z.boolean(),
  show_response_times: z.boolean(),
  only_if_degraded: z.boolean(),
});

/** A page with its items in their order, as it is read. Times are milliseconds since the epoch. */
export const pageRow = z.object({
  id: z.number(),
  workspace_id: z.number(),
  public_id: z.string(),
  name: z.string(),
  description: z.string(),
  slug: z.string(),
  is_published: z.boolean(),
  noindex: z.boolean(),
  locale: z.enum(['en', 'ru']),
  locales: z.array(z.enum(['en', 'ru'])),
  timezone: z.string(),
  days: z.literal([30, 60, 90]),
  theme: storedTheme.nullable(),
  links: z.array(z.object({ label: z.string(), url: z.string() })),
  announcement: z.string().nullable(),
  announcement_until: z.number().nullable(),
  embed_origins: z.array(z.string()),
  automatic_incidents: z.boolean(),
  delay_minutes: z.number(),
  notify_automatic: z.boolean(),
  password_hash: z.string().nullable(),
  allowed_mail_domains: z.array(z.string()),
  allowed_addresses: z.array(z.string()),
  subscribe: z.array(z.enum(subscriberKinds)),
  version: z.number(),
  created_at: z.number(),
  updated_at: z.number(),
  items: z.array(itemRow),
  domain: z
    .object({ domain: z.string(), proof: z.string(), state: z.enum(['pending', 'verified', 'lost']) })
    .nullable(),
  files: z.array(z.object({ kind: z.enum(statusPageFileKinds), hash: z.string(), type: z.enum(statusPageFileTypes) })),
});
export type PageRow = z.output<typeof pageRow>;
export type ItemRow = PageRow['items'][number];

const iso = (ms: number): string => new Date(ms).toISOString();

const shownColours = ({ background, surface, text, accent }: StatusPageColoursInput) => ({
  background: background ?? null,
  surface: surface ?? null,
  text: text ?? null,
  accent: accent ?? null,
});

/** A page as the API answers it. @param publicUrl of the installation */
export function answerOf(row: PageRow, publicUrl: string): StatusPage {
  const { theme, announcement, announcement_until: until, domain } = row;
  const installationUrl = `${publicUrl}/status/${row.slug}`;
  const url = domain?.state === 'verified' ? `https://${domain.domain}` : installationUrl;
  const fileUrl = (kind: StatusPageFileKind): string | null => {
    const file = row.files.find((each) => each.kind === kind);
    return file === undefined ? null : `${url}/files/${file.hash}.${file.type}`;
  };
  return {
    id: row.id,
    workspace_id: row.workspace_id,
    public_id: row.public_id,
    name: row.name,
    description: row.description,
    slug: row.slug,
    url,
    is_published: row.is_published,
    is_empty: row.items.length === 0,
    noindex: row.noindex,
    items: row.items.map(({ section, ...item }, position) => ({ ...item, group: section, position })),
    locale: row.locale,
    locales: row.locales,
    timezone: row.timezone,
    days: row.days,
    theme: theme === null ? null : { ...theme, light: shownColours(theme.light), dark: shownColours(theme.dark) },
    links: row.links,
    announcement: announcement === null ? null : { text: announcement, until: until === null ? null : iso(until) },
    embed_origins: row.embed_origins,
    automatic_incidents: row.automatic_incidents,
    delay_minutes: row.delay_minutes,
    notify_automatic: row.notify_automatic,
    domain: domain?.domain ?? null,
    domain_state: domain?.state ?? null,
    domain_txt: domain?.proof ?? null,
    files: {
      'logo-light': fileUrl('logo-light'),
      'logo-dark': fileUrl('logo-dark'),
      favicon: fileUrl('favicon'),
    },
    has_password: row.password_hash !== null,
    allowed_mail_domains: row.allowed_mail_domains,
    allowed_addresses: row.allowed_addresses,
    subscribe: row.subscribe,
    created_at: iso(row.created_at),
    updated_at: iso(row.updated_at),
    version: row.version,
  };
}
