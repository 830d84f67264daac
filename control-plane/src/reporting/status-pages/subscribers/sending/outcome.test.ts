import t from 'tap';
import { MailRefusedError } from '../../../../platform/mail/mailer.ts';
import { mayAdd, mayAsk, mayConfirm } from '../room.ts';
import { shownTarget, targetHash, targetOf } from '../target.ts';
import { NotTakenError, outcomeOf } from './outcome.ts';

void t.test(
  'what fails is tried again for some hours, and counts against a receiver that it is the fault of',
  async (t) => {
    const away = new Error('connection refused');
    t.same(outcomeOf(away, 1), { kind: 'again', afterSeconds: 60 });
    t.same(outcomeOf(away, 5), { kind: 'again', afterSeconds: 14_400 });
    t.same(
      outcomeOf(away, 6),
      { kind: 'given up', fault: 'none' },
      'a mail server that is away is nobody’s fault who reads mail',
    );
    t.same(outcomeOf(new NotTakenError('500'), 6), { kind: 'given up', fault: 'message' });
    t.same(outcomeOf(new NotTakenError('410', true), 1), { kind: 'given up', fault: 'gone' });
    t.same(outcomeOf(new MailRefusedError('552 too large'), 1), { kind: 'given up', fault: 'message' });
    t.same(outcomeOf(new MailRefusedError('550 no such user', true), 1), { kind: 'given up', fault: 'gone' });
  },
);

void t.test('strangers who do not confirm take no room from others, and there is an end to them', async (t) => {
  t.ok(mayAsk({ active: 0, pending: 999 }, 100));
  t.notOk(mayAsk({ active: 0, pending: 1_000 }, 100));
  t.notOk(mayAsk({ active: 100, pending: 0 }, 100));
  t.ok(mayAsk({ active: 0, pending: 4_999 }, 5_000));
  t.ok(mayAsk({ active: 10_000, pending: 10_000 }, undefined));
  t.ok(mayConfirm({ active: 99, pending: 5 }, 100));
  t.notOk(mayConfirm({ active: 100, pending: 0 }, 100));
  t.ok(mayAdd({ active: 40, pending: 10 }, 50, 100));
  t.notOk(mayAdd({ active: 40, pending: 10 }, 51, 100));
});

void t.test('a target is one however it is written, and is shown without what is secret of it', async (t) => {
  const key = Buffer.alloc(32, 7);
  const [one, other] = [targetOf('email', ' Reader@Example.com'), targetOf('email', 'reader@example.COM')];
  if (one === undefined || other === undefined) return t.fail('both are addresses');
  t.equal(one.target, 'Reader@example.com', 'mail goes where its reader wrote');
  t.ok(targetHash(key, one).equals(targetHash(key, other)));
  t.notOk(targetHash(Buffer.alloc(32, 8), one).equals(targetHash(key, one)));
  const hook = targetOf('webhook', 'https://hooks.example/secret?token=x');
  if (hook === undefined) return t.fail('it is a URL');
  t.equal(shownTarget(hook), 'https://hooks.example');
  t.notOk(targetHash(key, { kind: 'team-chat', target: hook.target }).equals(targetHash(key, hook)));
});
