import { readFileSync } from 'node:fs';
import path from 'node:path';
import { createApiCheckSchema } from '@parallax/api-contract';
import t from 'tap';
import { monitorsApi } from '../testing.ts';
import { apiCheckRoutes } from './index.ts';
import { shopPassword, startShop } from './testing.ts';

const page = readFileSync(path.join(import.meta.dirname, '../../../../docs/api-checks.md'), 'utf8');
const [body, answer] = [...page.matchAll(/```json\n([^]*?)```/g)].map(
  ([, text = '']) => JSON.parse(text) as Record<string, unknown>,
);

void t.test('the example of the page runs, and fails as the page says', async (t) => {
  const shop = await startShop(t);
  const api = await monitorsApi(t, {
    monitors: { resources: [apiCheckRoutes] },
    context: { allowedPrivateTargets: ['127.0.0.0/8'] },
  });
  const call = (method: string, below: string, sent?: unknown) =>
    api.call(method, `/api/v1/api-checks${below}`, {
      token: api.token,
      ...(sent === undefined ? {} : { body: sent }),
    });
  // Only where it goes, and what is secret, is of this test.
  const mine = { workspace_id: api.workspaceId, url: shop.url, secrets: { password: shopPassword } };
  const made = await call('POST', '', { ...body, ...mine });
  t.equal(made.status, 201, made.text);
  t.match((await call('POST', `/${String(made.body['id'])}/run`)).body, { status: 'UP' });
  t.same(shop.asked, ['/login', '/orders?region=eu', '/logout']);
  shop.state = 'degraded';
  t.match((await call('POST', `/${String(made.body['id'])}/run`)).body, answer ?? {});
});

void t.test('the page names every field of a step', (t) => {
  const step = createApiCheckSchema.shape.steps.element.shape;
  for (const name of Object.keys(step)) t.match(page, `\`${name}\``, name);
  t.end();
});
