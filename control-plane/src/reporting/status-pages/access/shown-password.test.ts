import t from 'tap';
import { shownPassword } from './shown-password.ts';
import { basic } from './testing.ts';

const shown = (headers: Readonly<Record<string, string>>) => shownPassword((name) => headers[name]);

t.test('a password is read from its header or from Basic, in UTF-8 and in one form', async (t) => {
  t.equal(shown({ 'x-status-password': 'pass:word ' }), 'pass:word ');
  // As Node hands on bytes of UTF-8.
  t.equal(shown({ 'x-status-password': Buffer.from('пароль').toString('latin1') }), 'пароль');
  t.equal(shown({ authorization: basic('pass:word', 'user') }), 'pass:word');
  t.equal(shown({ authorization: `basic  ${Buffer.from(':e\u0301').toString('base64')}` }), '\u00e9');
  t.equal(shown({ 'x-status-password': 'first', authorization: basic('second') }), 'first');
});

t.test('what is no password is none', async (t) => {
  for (const headers of [
    {},
    { 'x-status-password': '' },
    { authorization: 'Bearer abc' },
    { authorization: 'Basic' },
    { authorization: 'Basic !!!' },
    { authorization: `Basic ${Buffer.from('no colon').toString('base64')}` },
    { authorization: basic('') },
  ]) {
    t.equal(shown(headers), undefined, JSON.stringify(headers));
  }
});
