import { compareTimes } from '@parallax/testkit';
import t from 'tap';
import { testApi } from '../../testing.ts';

t.test('the time of an answer tells nothing of whether the address has an account', async (t) => {
  const api = await testApi(t);
  const ada = await api.account('ada@example.com');
  const ask = (email: string) => () => api.call('POST', '/api/v1/auth/forgot-password', { body: { email } });
  const { isAlike, told } = await compareTimes(ask(ada.email), ask('bob@example.com'));
  t.ok(isAlike, told);
  t.comment(told);
});
