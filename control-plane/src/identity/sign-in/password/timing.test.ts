import { compareTimes } from '@parallax/testkit';
import t from 'tap';
import { limitsWith } from '../../plans/index.ts';
import { testApi } from '../../testing.ts';

t.test('the time of a refusal tells nothing of whether the address has an account', { timeout: 170_000 }, async (t) => {
  const api = await testApi(t, { context: { limits: limitsWith({ failed_login: 10_000, login: 10_000 }) } });
  const ada = await api.account('ada@example.com');
  const from = '198.51.100.7';
  const attempt = (email: string) => async () => {
    const body = { email, password: 'wrong phrase entirely' };
    const answer = await api.call('POST', '/api/v1/auth/login', { body, from });
    if (answer.status !== 401) throw new Error(`${answer.status} ${answer.text}`);
  };
  const { isAlike, told } = await compareTimes(attempt(ada.email), attempt('nobody@example.com'));
  t.ok(isAlike, told);
  t.comment(told);
});
