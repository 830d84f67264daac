// Written from memory, checked on 2026-11-23 against https://dev.vk.com/en/method/messages.send and https://github.com/VKCOM/vk-api-schema, 5.199
// (messages/methods.json: parameters and errors of messages.send; errors.json: their numbers and words), and in reports of users the form of an error.
// The two name 9,000 characters; that no more than 4,096 are taken, and that random_id has 32 bits, is from memory.
import type { StandIn, StandInAnswer } from '../stand-in.ts';

const token = 'vk1.a.community-credential-06';

/** VK's messages.send for a community. Whatever it refuses, it answers 200 and a number. */
export const vk: StandIn = {
  channel: 'vk',
  documents: ['https://dev.vk.com/ru/method/messages.send'],
  settings: () => ({ token }),
  target: '1234567',
  handle: (request, must, seen) => {
    must(request.method === 'POST' && request.path === '/method/messages.send', 'POST /method/messages.send');
    const value = (name: string) => request.form.get(name) ?? request.query.get(name) ?? '';
    const isAuthorized = request.headers['authorization'] === `Bearer ${token}` || value('access_token') === token;
    must(isAuthorized && !request.query.has('access_token'), 'the token, in a header or the body');
    must(/^5\.\d{2,3}$/.test(value('v')) && Number(value('v').slice(2)) >= 90, 'v, from 5.90 on');
    must((value('peer_id') || value('user_id')) === '1234567', 'peer_id');
    must(/^-?\d+$/.test(value('random_id')), 'random_id, which 5.90 and later want');
    must(
      Math.abs(Number(value('random_id'))) <= 2 ** 31 && value('random_id') !== '0',
      'random_id of 32 bits; 0 would not keep repetitions out',
    );
    must(value('message') !== '' && value('message').length <= 4096, 'message of at most 4,096 characters');
    return { status: 200, json: { response: seen.length + 1 } };
  },
  troubles: {
    refused_credentials: refusedWith(5, 'User authorization failed: invalid access_token (4).'),
    unknown_target: refusedWith(901, "Can't send messages for users without permission"),
    rate_limited: refusedWith(6, 'Too many requests per second'),
    refused_message: refusedWith(914, 'Message is too long'),
    service_unavailable: refusedWith(10, 'Internal server error'),
  },
};

function refusedWith(error_code: number, error_msg: string): StandInAnswer {
  return {
    status: 200,
    json: { error: { error_code, error_msg, request_params: [{ key: 'method', value: 'messages.send' }] } },
  };
}
