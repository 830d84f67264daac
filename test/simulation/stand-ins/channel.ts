/* The credentials of a session: who a modelled process is, its connection knows. */

export const channelOptions = {};

export function mutualTls(): undefined {
  return undefined;
}
