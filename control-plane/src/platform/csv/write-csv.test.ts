import t from 'tap';
import { writeCsv } from './write-csv.ts';

void t.test('records end with CRLF and have the same number of cells', async (t) => {
  t.equal(writeCsv([['a'], ['b', 1, null, 'c'], []]), 'a,,,\r\nb,1,,c\r\n,,,\r\n');
  t.equal(writeCsv([]), '');
});

void t.test('what would break a record is quoted', async (t) => {
  t.equal(writeCsv([['a,b', 'say "no"', 'two\nlines', ' x ']]), '"a,b","say ""no""","two\nlines", x \r\n');
});

void t.test('a text that would be a formula is none, a number stays one', async (t) => {
  for (const text of ['=1+1', '+1', '-1', '@SUM(A1)', '＝1', '－1']) t.equal(writeCsv([[text]]), `'${text}\r\n`);
  t.equal(writeCsv([['\t=1']]), "'\t=1\r\n");
  t.equal(writeCsv([['\r=1']]), '"\'\r=1"\r\n');
  t.equal(writeCsv([['\n=1']]), '"\'\n=1"\r\n');
  t.equal(writeCsv([['="a"']]), '"\'=""a"""\r\n');
  t.equal(writeCsv([[-1.5, 'a=b']]), '-1.5,a=b\r\n');
});
