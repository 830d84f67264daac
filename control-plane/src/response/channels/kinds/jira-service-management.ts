import { z } from 'zod';
import type { Channel } from '../channel.ts';
import { destinationOf, destinationTarget } from '../destination-target.ts';
import { askGenie, genieDestinations, genieRequest, type GenieRequest } from './shared/genie-alerts.ts';

const title = 'Jira Service Management';

const settings = z.strictObject({
  destinations: genieDestinations('API key of an "API" integration of the operations team.'),
});

/**
 * Integration events of Jira Service Management Operations. That an alert may be named by its alias (`identifierType=alias`) is not in the reference
 * but said by Atlassian in JSDCLOUD-14179.
 */
export const jiraServiceManagement: Channel<z.output<typeof settings>, GenieRequest> = {
  name: 'jira-service-management',
  aliases: ['jsm'],
  title,
  documentation: 'https://developer.atlassian.com/cloud/jira/service-desk-ops/rest/v1/api-group-integration-events/',
  setup:
    'In Jira Service Management open the team\'s "Operations", "Integrations", add "API" and copy its API key into a destination. The target is the key of the destination.',
  settings,
  secrets: ['destinations[].api_key'],
  target: destinationTarget('key of a Jira Service Management destination'),
  baseUrl: 'https://api.atlassian.com',
  closes: true,
  render: genieRequest,
  send: (request, { settings, target }, io) =>
    askGenie(
      request,
      `${io.baseUrl}/jsm/ops/integration/v2/alerts`,
      destinationOf(settings, target).api_key,
      title,
      io,
    ),
};
