import t from 'tap';
import { decryptPush } from './decrypt-push.ts';

const bytes = (text: string) => Buffer.from(text.replaceAll(/\s/g, ''), 'base64url');

// RFC 8291, section 5 and appendix A.
const browser = {
  privateKey: bytes('q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94'),
  publicKey: bytes('BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4'),
  auth: bytes('BTBZMqHH6r4Tts7J_aSIgg'),
};
const body = bytes(`
  DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27ml
  mlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPT
  pK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN`);

void t.test('the example of RFC 8291 opens, and no other byte of it does', async (t) => {
  t.equal(decryptPush(body, browser).toString(), 'When I grow up, I want to be a watermelon');
  for (const at of [0, 15, 40, 90, body.length - 1]) {
    const altered = Buffer.from(body);
    altered[at] = (altered[at] ?? 0) ^ 1;
    t.throws(() => decryptPush(altered, browser), `byte ${at}`);
  }
  t.throws(() => decryptPush(body, { ...browser, auth: Buffer.alloc(16) }), 'another secret');
});
