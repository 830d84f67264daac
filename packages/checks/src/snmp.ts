import { occurs, shown as asWritten } from './http/keyword.ts';
import { conversation } from './net/conversation.ts';
import { type Failure, failed } from './net/failure.ts';
import type { Session } from './net/session.ts';
import { getObject } from './snmp/exchange.ts';
import { errorName, type SnmpPdu } from './snmp/pdu.ts';
import { snmpProblem, type SnmpSettings, snmpSettings } from './snmp/settings.ts';

/** The value of one object of an SNMP agent. */
export const snmp = conversation({
  type: 'snmp',
  summary: 'An SNMP agent: the value of one object, version 1, 2c or 3',
  reference: {
    targets: ['switch.example.com', 'switch.example.com:161'],
    settings: { community: '…' },
    phases: ['dns', 'first_byte'],
    details: { oid: 'The object that answered.', kind: 'Kind of its value.', value: 'The value, as a text.' },
  },
  settings: snmpSettings,
  secretFields: ['community', 'auth_password', 'priv_password'],
  // Everybody's community is no secret, and may well be an ordinary word of the value.
  wellKnown: ['public'],
  peer: 'an SNMP agent',
  codes: 'snmp_protocol',
  target: { plain: { snmp: 161, udp: 161 } },
  problem: (_target, settings) => snmpProblem(settings),
  talk: async (session, settings) => {
    const pdu = await getObject(session, settings);
    session.note('oid', pdu.oid);
    if (!('missing' in pdu.value)) {
      session.note('kind', pdu.value.kind);
      session.note('value', pdu.value.text);
    }
    session.demand(judge(pdu, settings, session));
  },
});

function judge({ errorStatus, value }: SnmpPdu, settings: SnmpSettings, { where, show }: Session): Failure | undefined {
  if (errorStatus === 2) return missing(settings, 'noSuchName');
  if (errorStatus === 16)
    return failed('snmp_credentials', `The agent ${where} does not allow this object to be read.`);
  if (errorStatus !== 0) return failed('snmp_error', `The agent ${where} answered ${errorName(errorStatus)}.`);
  if ('missing' in value) return missing(settings, value.missing);
  const { expected_value, expected_pattern, min_value, max_value } = settings;
  const shown = show(value.text);
  if (expected_value !== undefined && value.text !== expected_value)
    return failed('response_mismatch', `The value is "${shown}"; expected is "${expected_value.slice(0, 100)}".`);
  if (expected_pattern !== undefined && !occurs(expected_pattern, value.text))
    return failed('response_mismatch', `The value "${shown}" does not match ${asWritten(expected_pattern)}.`);
  if (min_value === undefined && max_value === undefined) return undefined;
  const number = /^\s*[-+]?\d+(?:\.\d+)?\s*$/.test(value.text) ? Number(value.text) : Number.NaN;
  if (Number.isNaN(number)) return failed('response_mismatch', `The value "${shown}" is no number.`);
  if (min_value !== undefined && number < min_value)
    return failed('response_mismatch', `The value ${shown} is below ${min_value}.`);
  if (max_value !== undefined && number > max_value)
    return failed('response_mismatch', `The value ${shown} is above ${max_value}.`);
  return undefined;
}

function missing({ oid }: SnmpSettings, why: string): Failure {
  return failed('snmp_no_such_object', `The agent has no object ${oid} (${why}).`);
}
