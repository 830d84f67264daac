import { z } from 'zod';
import { route } from './route.ts';
import { idSchema, timestamp } from './shared.ts';

const providersSchema = z
  .record(z.string(), z.array(z.string()))
  .describe('Zones of blocklists by what they list. Each may stand in `dnsbl_servers` of a monitor.')
  .meta({ id: 'DnsblProviders', examples: [{ address: ['zen.spamhaus.org'], domain: ['dbl.spamhaus.org'] }] });

export const listDnsblProvidersRoute = route({
  method: 'GET',
  path: '/api/v1/monitors/dnsbl-providers',
  credentials: 'key-or-bearer',
  tag: 'Monitors',
  summary: 'Blocklist providers',
  description:
    'The lists that a `dnsbl` monitor without `dnsbl_servers` asks: `address` for addresses of both families, `domain` for domains.',
  success: { status: 200, answer: providersSchema },
});

/** What is told of a list: whether it lists the target, or that it gave no answer that counts. */
export const listingStates = ['listed', 'clean', 'error'] as const;
export type ListingState = (typeof listingStates)[number];

const providerHistorySchema = z
  .array(
    z.object({
      provider: z.string(),
      state: z.enum(listingStates).nullable().describe('Now; null while the list is not asked.'),
      state_since: timestamp.nullable(),
      samples: z.array(z.object({ at: timestamp, state: z.enum(listingStates) })),
    }),
  )
  .meta({ id: 'DnsblProviderHistory' });
export type ProviderHistory = z.output<typeof providerHistorySchema>;

/** Windows of the history. */
export const historyWindows = ['24h', '7d', '30d'] as const;
export type HistoryWindow = (typeof historyWindows)[number];

export const readProviderHistoryRoute = route({
  method: 'GET',
  path: '/api/v1/monitors/:monitor_id/dnsbl/provider-history',
  credentials: 'bearer',
  tag: 'Monitors',
  summary: 'What each blocklist said over time',
  description:
    'By list, in alphabetical order, a sample of every five minutes (24h), half hour (7d) or 144 minutes (30d), oldest first; each stands ' +
    'for the time from `at` to the next and holds the gravest state of it: `listed`, `error`, `clean`. Times in which nobody asked have no ' +
    'sample. The list is empty for monitors of other protocols.',
  params: z.object({ monitor_id: idSchema }),
  query: z.object({ window: z.enum(historyWindows).default('24h') }),
  success: { status: 200, answer: providerHistorySchema },
  errors: [404],
});
