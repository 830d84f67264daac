import t from 'tap';
import { encodeFilter, filterProblem } from './filter.ts';

void t.test('filters are encoded as RFC 4511 has them', async (t) => {
  const same = (text: string, hex: string) =>
    t.equal(encodeFilter(text).toString('hex'), hex.replaceAll(' ', ''), text);
  same('(cn=Al)', 'a308 0402636e 0402416c');
  same('(cn=*)', '8702636e');
  same('(cn=\\2a\\5c)', 'a308 0402636e 04022a5c');
  same('(a>=1)', 'a506 040161 040131');
  same('(a<=1)', 'a606 040161 040131');
  same('(a~=1)', 'a806 040161 040131');
  same('(cn=a*b*c)', 'a40f 0402636e 3009 800161 810162 820163');
  same('(cn=*b)', 'a409 0402636e 3003 820162');
  same('(&(a=*)(!(b=*)))', 'a008 870161 a203 870162');
  same('(|(a=*)(b=*))', 'a106 870161 870162');
  same('(&)', 'a000');
  same('(cn=ü)', 'a308 0402636e 0402c3bc');
});

void t.test('what is no filter is told so', async (t) => {
  const wrong = [
    '',
    'cn=a',
    '(cn=a',
    '(cn=a))',
    '(cn)',
    '(cn:dn:=x)',
    '(=a)',
    '(cn=a\\zz)',
    '(cn=**)',
    '(a>=*)',
    '(!)',
  ];
  for (const text of [...wrong, '(c n=a)', '((a=b))', '(cn=(x))', `${'(!'.repeat(20)}(a=b)${')'.repeat(20)}`])
    t.type(filterProblem(text), 'string', text);
});
