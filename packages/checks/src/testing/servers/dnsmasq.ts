import type { Test } from 'tap';
import { accepts, freePort, startReal } from '../real-server.ts';
import type { Running } from './running.ts';

/** The key of the root, without which dnsmasq does not start. */
const rootAnchor = '20326,8,2,E06D44B80B8F1D39A95C0B0D7C65D08458E880409BBC683457104237C7F8EC8D';

export type DnsmasqOptions = {
  /** Port of the server of `signed.test`. */
  readonly upstream: number;
  /** What it takes for the DS record of that zone. */
  readonly ds: string;
};

/** dnsmasq as a resolver that verifies `signed.test` by DNSSEC; undefined where it is not installed. */
export async function startDnsmasq(t: Test, { upstream, ds }: DnsmasqOptions): Promise<Running | undefined> {
  const port = await freePort();
  const server = await startReal(t, {
    program: 'dnsmasq',
    args: [
      '--keep-in-foreground',
      '--conf-file=/dev/null',
      '--pid-file=',
      '--user=root',
      '--no-resolv',
      '--no-hosts',
      '--bind-interfaces',
      '--listen-address=127.0.0.1',
      `--port=${port}`,
      `--server=/signed.test/127.0.0.1#${upstream}`,
      '--dnssec',
      `--trust-anchor=signed.test,${ds}`,
      `--trust-anchor=.,${rootAnchor}`,
    ],
    ready: () => accepts(port),
  });
  return server && { port, url: `127.0.0.1:${port}`, stop: server.stop };
}
