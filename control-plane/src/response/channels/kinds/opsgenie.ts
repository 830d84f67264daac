import { z } from 'zod';
import type { Channel } from '../channel.ts';
import { destinationOf, destinationTarget } from '../destination-target.ts';
import { askGenie, genieDestinations, genieRequest, type GenieRequest } from './shared/genie-alerts.ts';

const title = 'Opsgenie';
const us = 'https://api.opsgenie.com';
const eu = 'https://api.eu.opsgenie.com';

const settings = z.strictObject({
  region: z
    .enum(['us', 'eu'])
    .default('us')
    .describe('Where the account is kept: "eu" if its address is app.eu.opsgenie.com.'),
  destinations: genieDestinations('API key of an "API" integration that may create alerts.'),
});

/** Atlassian ends Opsgenie on 5 April 2027; `jira-service-management` is what follows it. */
export const opsgenie: Channel<z.output<typeof settings>, GenieRequest> = {
  name: 'opsgenie',
  title,
  documentation: 'https://docs.opsgenie.com/docs/alert-api',
  setup:
    'In Opsgenie add an integration "API" to the team and copy its API key into a destination; a key of "API key management" cannot create alerts. The target is the key of the destination.',
  settings,
  secrets: ['destinations[].api_key'],
  target: destinationTarget('key of an Opsgenie destination'),
  baseUrl: us,
  closes: true,
  render: genieRequest,
  send: (request, { settings, target }, io) => {
    const host = settings.region === 'eu' && io.baseUrl === us ? eu : io.baseUrl;
    return askGenie(request, `${host}/v2/alerts`, destinationOf(settings, target).api_key, title, io);
  },
};
