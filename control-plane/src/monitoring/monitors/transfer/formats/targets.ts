import { RowFault } from '../file/cells.ts';

const scheme = /^([a-z][a-z0-9+.-]*):\/\//i;

/** What a web check is pointed at: a bare host gets a scheme. */
export function webTarget(
  text: string,
  warnings: string[],
  assumed: 'http' | 'https' = 'https',
): { readonly url: string; readonly protocol: 'http' | 'https' } {
  const given = scheme.exec(text)?.[1]?.toLowerCase();
  if (given === 'http' || given === 'https') return { url: text, protocol: given };
  if (given !== undefined) throw new RowFault('invalid_cell', `url: a web page has no address with ${given}://`);
  if (/["<>\\^`{|}\s]/.test(text)) throw new RowFault('invalid_cell', `url: "${text.slice(0, 100)}" is no address`);
  warnings.push(`the URL has no scheme; ${assumed}:// was put before it`);
  return { url: `${assumed}://${text}`, protocol: assumed };
}

/** The host alone, for pings and names: a URL is cut down to it. */
export function hostTarget(text: string, warnings: string[]): string {
  const host = addressOf(text).host;
  if (host !== text.replace(/^\[(.*)\]$/, '$1')) warnings.push(`only the host of the URL is used: ${host}`);
  return host;
}

/** `host:port`. @param port beside the address; else that in the address, else the usual one @throws RowFault without any */
export function portTarget(text: string, port: number | undefined, usual?: number): string {
  const address = addressOf(text);
  const wanted = port ?? address.port ?? usual;
  if (wanted === undefined) throw new RowFault('port_missing', 'a check of a port needs the port');
  return `${address.host.includes(':') ? `[${address.host}]` : address.host}:${wanted}`;
}

const usualPorts: ReadonlyMap<string, number> = new Map([
  ['http', 80],
  ['https', 443],
]);

function addressOf(text: string): { readonly host: string; readonly port: number | undefined } {
  const given = scheme.exec(text)?.[1]?.toLowerCase();
  // An IPv6 address without brackets has no port.
  if (given === undefined && (text.match(/:/g)?.length ?? 0) > 1 && !text.startsWith('[')) {
    return { host: text, port: undefined };
  }
  const rest = text.replace(scheme, '');
  // Some scheme that the parser knows nothing of keeps ports as they are.
  if (!URL.canParse(`parallax://${rest}`)) {
    throw new RowFault('invalid_cell', `url: "${text.slice(0, 100)}" is no address`);
  }
  const url = new URL(`parallax://${rest}`);
  if (url.hostname === '') throw new RowFault('invalid_cell', `url: "${text.slice(0, 100)}" has no host`);
  const port = url.port === '' ? usualPorts.get(given ?? '') : Number(url.port);
  return { host: url.hostname.replace(/^\[(.*)\]$/, '$1'), port };
}
