import { randomBytes } from 'node:crypto';
import t from 'tap';
import { monitorsApi } from '../../testing.ts';
import { imported, upload } from './testing.ts';

const limit = 1_048_576;
const bytes = (...values: readonly number[]) => Buffer.from(values);
const many = (count: number) =>
  `url\n${Array.from({ length: count }, (_, index) => `https://h${index}.example/`).join('\n')}\n`;
/** A file of exactly so many bytes: one row and a long description. */
const ofSize = (size: number) => {
  const head = 'url,name,description\nhttps://a.example/,a,';
  return head + 'x'.repeat(size - head.length);
};
const xlsx = Buffer.concat([bytes(0x50, 0x4b, 0x03, 0x04, 0x14, 0x00), randomBytes(200)]);
const xls = Buffer.concat([bytes(0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1), Buffer.alloc(512)]);

/** Files that are refused as a whole: what, the code, and what the answer has to say. */
const refused: readonly (readonly [string, string | Uint8Array, string, RegExp?])[] = [
  ['nothing', '', 'file_empty'],
  ['only a byte order mark', '\ufeff', 'file_empty'],
  ['blank lines', '\r\n\r\n  \r\n', 'file_empty'],
  ['Excel', xlsx, 'excel', /CSV in UTF-8/],
  ['old Excel', xls, 'excel', /CSV in UTF-8/],
  ['UTF-16 little endian', Buffer.from('\ufeffurl\nhttps://a.example/', 'utf16le'), 'utf_16', /UTF-16/],
  ['UTF-16 big endian', Buffer.from('\ufeffurl\nhttps://a.example/', 'utf16le').swap16(), 'utf_16', /UTF-16/],
  ['UTF-16 without a mark', Buffer.from('url\nhttps://a.example/', 'utf16le'), 'nul_character', /UTF-16/],
  ['gzip', bytes(0x1f, 0x8b, 8, 0, 0), 'compressed'],
  ['PDF', '%PDF-1.7\n', 'not_csv'],
  ['NUL in a cell', 'url,name\nhttps://a.example/,a\0b\n', 'nul_character'],
  ['Latin-1', Buffer.from('url,name\nhttps://a.example/,Z\u00fcrich\n', 'latin1'), 'encoding'],
  ['a cut character', Buffer.concat([Buffer.from('url\nhttps://a.example/'), bytes(0xe2, 0x82)]), 'encoding'],
  ['an overlong character', Buffer.concat([Buffer.from('url\n'), bytes(0xc0, 0xaf)]), 'encoding'],
  ['a surrogate', Buffer.concat([Buffer.from('url\n'), bytes(0xed, 0xa0, 0x80)]), 'encoding'],
  ['random bytes', Buffer.concat([bytes(0xff, 0xfd), Buffer.alloc(300, 0xfd)]), 'encoding'],
  ['the 501st row', many(501), 'too_many_rows', /500/],
  ['no rows', 'url,name\n', 'no_rows'],
  ['no rows but empty ones', 'url,name\n,\n;\n'.replace(';', ','), 'no_rows'],
  ['no column of targets', 'name,tags\na,b\n', 'url_column_missing', /name, tags/],
  ['a header twice', 'url,name,Name\nhttps://a.example/,a,b\n', 'duplicate_column', /name/],
  ['a header twice once folded', 'url,Monitor Name,monitor_name\nhttps://a.example/,a,b\n', 'duplicate_column'],
  ['quotes that do not close', 'url,name\n"https://a.example/,a\nb,c\n', 'csv', /line/],
  ['a megabyte of delimiters', ','.repeat(1_000_000), 'file_empty'],
  ['a megabyte of columns', 'a,'.repeat(500_000), 'too_many_columns'],
  ['a megabyte of quotes', '"'.repeat(1_000_000), 'no_rows'],
  ['an odd megabyte of quotes', '"'.repeat(999_999), 'csv'],
  ['a web page', '<!doctype html><html><body>Login</body></html>', 'no_rows'],
  ['a web page of two lines', '<!doctype html>\n<html></html>', 'url_column_missing'],
  ['only sep=', 'sep=;\n', 'file_empty'],
  ['JSON that ends too early', '{"monitorList": [', 'syntax'],
  ['JSON with a key twice', '{"monitorList": [], "monitorList": []}', 'duplicate_key'],
  ['JSON that is deep', `{"monitorList": ${'['.repeat(5_000)}`, 'too_deep'],
  ['JSON of something else', '{"monitors": []}', 'not_a_backup'],
  ['a JSON array', '[1, 2]', 'not_a_backup'],
  ['a JSON list that is none', '{"monitorList": {"a": 1}}', 'not_a_backup'],
  ['a JSON list without anything', '{"monitorList": []}', 'no_rows'],
  ['a JSON list of 501', JSON.stringify({ monitorList: Array.from({ length: 501 }, () => ({})) }), 'too_many_rows'],
  ['JSON with __proto__', '{"__proto__": {"monitorList": []}}', 'forbidden_key'],
];

/** Files whose rows fail or are skipped, each for a reason, and none of which creates anything. */
const badRows: readonly (readonly [string, string, string])[] = [
  ['control characters in a name', 'url,name\nhttps://a.example/,a\u0007b\n', 'invalid_input'],
  ['control characters in a URL', 'url\nhttps://a.example/\u0001\n', 'invalid_input'],
  ['user information in a URL', 'url\nhttps://me:secret@a.example/\n', 'target_invalid'],
  ['a quote within quotes', 'url,name\n"https://a"b".example/",a\n', 'invalid_cell'],
  ['a script as URL', 'url\njavascript://alert(1)\n', 'type_unknown'],
  ['a file as URL', 'url\nfile:///etc/passwd\n', 'type_unknown'],
  ['a URL that is too long', `url\nhttps://a.example/${'x'.repeat(2_048)}\n`, 'invalid_input'],
  ['nonsense as URL', 'url\nhttps://[::::]/\n', 'target_invalid'],
  ['a name of the prototype as type', 'url,type\na.example,constructor\n', 'type_unknown'],
  ['__proto__ as type', 'url,type\na.example,__proto__\n', 'type_unknown'],
  ['settings that are no object', 'url,settings\nhttps://a.example/,[1]\n', 'invalid_cell'],
  ['settings that are no JSON', 'url,settings\nhttps://a.example/,{a}\n', 'invalid_cell'],
  ['settings with __proto__', 'url,settings\nhttps://a.example/,"{""__proto__"":{}}"\n', 'invalid_cell'],
  ['settings with a lone surrogate', 'url,settings\nhttps://a.example/,"{""body"":""\\ud800""}"\n', 'invalid_cell'],
  ['deep settings', `url,settings\nhttps://a.example/,${'['.repeat(1_000)}\n`, 'invalid_cell'],
  ['an interval beyond numbers', 'url,interval_seconds\nhttps://a.example/,99999999999999\n', 'invalid_cell'],
  ['an interval of nothing', 'url,interval_seconds\nhttps://a.example/,0\n', 'invalid_input'],
  ['an interval below nothing', 'url,interval\nhttps://a.example/,-5\n', 'invalid_cell'],
  ['a policy that is none', 'url,interval_seconds,consensus_policy\nhttps://a.example/,60,most\n', 'invalid_input'],
  ['neither true nor false', 'url,is_active\nhttps://a.example/,perhaps\n', 'invalid_cell'],
  ['21 tags', `url,tags\nhttps://a.example/,"${Array.from({ length: 21 }, (_, i) => i).join(',')}"\n`, 'invalid_input'],
  ['tags that are no list', 'url,tags\nhttps://a.example/,"[{""a"":1}]"\n', 'invalid_cell'],
  ['a port without a number', 'url,type\na.example,port\n', 'port_missing'],
  ['a port that is none', 'url,type,port\na.example,port,70000\n', 'target_invalid'],
  ['a keyword check without keyword', 'url,type\nhttps://a.example/,keyword\n', 'keyword_missing'],
  ['a private key that is none', 'url,interval_seconds,client_key\nhttps://a.example/,60,x\n', 'invalid_format'],
  ['another type in a backup', '{"monitorList": [{"type": 7}]}', 'invalid_cell'],
  ['a backup with a foreign type', '{"monitorList": [{"type": "docker", "name": "a"}]}', 'not_translatable'],
  [
    'a backup with headers that are none',
    '{"monitorList": [{"type": "http", "url": "https://a.example", "headers": "{"}]}',
    'invalid_cell',
  ],
];

void t.test('a file that is of no use is refused with its reason, and creates nothing', async (t) => {
  const api = await monitorsApi(t);
  for (const [what, file, code, says = /./] of refused) {
    const answer = await upload(api, file);
    t.match(answer, { status: 422, body: { errors: [{ in: 'body', code, message: says }] } }, what);
  }
  t.match((await api.call('GET', '/api/v1/monitors', { token: api.token })).body, { total: 0 });
});

void t.test('a row that is of no use is reported with its reason', async (t) => {
  const api = await monitorsApi(t);
  for (const [what, file, code] of badRows) {
    const report = await imported(api, file);
    t.match(report, { created: 0, total: 1, rows: [{ code, reason: /./ }] }, what);
  }
});

void t.test(
  'a file of exactly one megabyte is read and one byte more is too large, in a form and without',
  async (t) => {
    const api = await monitorsApi(t);
    for (const type of [undefined, 'text/csv']) {
      const call = type === undefined ? {} : { type };
      t.match(await upload(api, ofSize(limit), call), { status: 200, body: { failed: 1 } });
      t.match(await upload(api, ofSize(limit + 1), call), { status: 413, body: { code: 'payload_too_large' } });
    }
    t.match(await upload(api, ofSize(3 * limit)), { status: 413 });
    t.match(await imported(api, many(500), { query: '?dry_run=true' }), { created: 500 });
  },
);

void t.test('only files are taken, and only here', async (t) => {
  const api = await monitorsApi(t);
  t.match(await upload(api, 'url\n', { type: 'application/xml' }), { status: 415 });
  t.match(await upload(api, 'url\n', { type: 'multipart/form-data' }), { status: 422 });
  t.match(await upload(api, 'url\n', { type: 'multipart/form-data; boundary=b' }), { status: 422 });
  const form = new FormData();
  form.append('file', 'url\nhttps://a.example/\n');
  const noFile = await fetch(`${api.url}/api/v1/monitors/import/csv`, {
    method: 'POST',
    headers: { authorization: `Bearer ${api.token}` },
    body: form,
  });
  t.equal(noFile.status, 422, 'a field that is no file');
  const elsewhere = await fetch(`${api.url}/api/v1/monitors`, {
    method: 'POST',
    headers: { authorization: `Bearer ${api.token}` },
    body: form,
  });
  t.equal(elsewhere.status, 415);
  for (const query of ['?dry_run=maybe', '?on_duplicate=replace', '?workspace_id=0', '?workspace_id=x']) {
    t.match(await upload(api, 'url\n', { query }), { status: 422, body: { errors: [{ in: 'query' }] } }, query);
  }
});
