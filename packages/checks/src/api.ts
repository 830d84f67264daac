import { runSteps } from './api/run.ts';
import { apiSettings } from './api/settings.ts';
import type { CheckType } from './check.ts';
import { readUrl } from './http/target.ts';

const schemes = ['http:', 'https:'];
const meaningOfLine =
  'What the first step did: its result, status, time, error code, name and what failed; `step_2` to `step_20` likewise.';

/** A sequence of HTTP requests, where what one is answered goes into the next. The target is what relative URLs of steps belong to. */
export const api = {
  type: 'api',
  summary: 'A sequence of HTTP requests with extracted variables and assertions',
  reference: {
    targets: ['https://api.example.com', 'http://api.example.com:8080'],
    settings: {
      steps: [
        {
          name: 'log in',
          method: 'POST',
          url: '/login',
          json: { user: '{{user}}', password: '{{password}}' },
          extract: [{ name: 'token', from: 'json', path: '$.token' }],
        },
        { name: 'orders', url: '/orders', headers: { Authorization: 'Bearer {{token}}' } },
      ],
      variables: { user: 'watcher' },
    },
    phases: ['dns', 'connect', 'tls', 'first_byte', 'transfer'],
    details: {
      step_1: meaningOfLine,
      failed_step: 'The number of the step that failed; of several the gravest, then the first.',
    },
  },
  settings: apiSettings,
  secretFields: ['secrets'],
  requires: [],
  cheap: false,
  validateTarget: (target) => {
    const url = readUrl(target, 'https', schemes);
    return typeof url === 'string' ? url : undefined;
  },
  run: (target, settings, context) => {
    const url = readUrl(target, 'https', schemes);
    if (typeof url === 'string') throw new Error(`The target was not validated: ${url}`);
    return runSteps(url, settings, context);
  },
} satisfies CheckType<'api', ReturnType<typeof apiSettings>>;
