import { z } from 'zod';
import { route } from './route.ts';

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
