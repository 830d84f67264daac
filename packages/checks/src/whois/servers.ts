/** Where RDAP is asked, by top-level domain: the base addresses of IANA's bootstrap registry (RFC 9224) for the common ones. */
const rdapServers: Readonly<Record<string, string>> = {
  com: 'https://rdap.verisign.com/com/v1/',
  net: 'https://rdap.verisign.com/net/v1/',
  org: 'https://rdap.publicinterestregistry.org/rdap/',
  info: 'https://rdap.identitydigital.services/rdap/',
  biz: 'https://rdap.nic.biz/',
  name: 'https://tld-rdap.verisign.com/name/v1/',
  cc: 'https://tld-rdap.verisign.com/cc/v1/',
  tv: 'https://rdap.nic.tv/',
  mobi: 'https://rdap.identitydigital.services/rdap/',
  pro: 'https://rdap.identitydigital.services/rdap/',
  app: 'https://pubapi.registry.google/rdap/',
  dev: 'https://pubapi.registry.google/rdap/',
  page: 'https://pubapi.registry.google/rdap/',
  new: 'https://pubapi.registry.google/rdap/',
  xyz: 'https://rdap.centralnic.com/xyz/',
  online: 'https://rdap.radix.host/rdap/',
  site: 'https://rdap.radix.host/rdap/',
  store: 'https://rdap.radix.host/rdap/',
  tech: 'https://rdap.radix.host/rdap/',
  cloud: 'https://rdap.registry.cloud/rdap/',
  shop: 'https://rdap.gmoregistry.net/rdap/',
  club: 'https://rdap.nic.club/',
  live: 'https://rdap.identitydigital.services/rdap/',
  world: 'https://rdap.identitydigital.services/rdap/',
  ai: 'https://rdap.identitydigital.services/rdap/',
  uk: 'https://rdap.nominet.uk/uk/',
  fr: 'https://rdap.nic.fr/',
  nl: 'https://rdap.sidn.nl/',
  no: 'https://rdap.norid.no/',
  fi: 'https://rdap.fi/rdap/rdap/',
  cz: 'https://rdap.nic.cz/',
  pl: 'https://rdap.dns.pl/',
  si: 'https://rdap.register.si/',
  is: 'https://rdap.isnic.is/rdap/',
  br: 'https://rdap.registro.br/',
  ca: 'https://rdap.ca.fury.ca/rdap/',
  in: 'https://rdap.nixiregistry.in/rdap/',
  sg: 'https://rdap.sgnic.sg/rdap/',
  id: 'https://rdap.pandi.id/rdap/',
  tw: 'https://ccrdap.twnic.tw/tw/',
};

/** Where WHOIS is asked, by top-level domain. For others IANA's own server says. */
const whoisServers: Readonly<Record<string, string>> = {
  com: 'whois.verisign-grs.com',
  net: 'whois.verisign-grs.com',
  org: 'whois.publicinterestregistry.org',
  info: 'whois.nic.info',
  biz: 'whois.nic.biz',
  io: 'whois.nic.io',
  co: 'whois.registry.co',
  me: 'whois.nic.me',
  ai: 'whois.nic.ai',
  uk: 'whois.nic.uk',
  de: 'whois.denic.de',
  at: 'whois.nic.at',
  ch: 'whois.nic.ch',
  li: 'whois.nic.li',
  fr: 'whois.nic.fr',
  nl: 'whois.domain-registry.nl',
  be: 'whois.dns.be',
  eu: 'whois.eu',
  it: 'whois.nic.it',
  es: 'whois.nic.es',
  pt: 'whois.dns.pt',
  pl: 'whois.dns.pl',
  cz: 'whois.nic.cz',
  sk: 'whois.sk-nic.sk',
  se: 'whois.iis.se',
  nu: 'whois.iis.nu',
  dk: 'whois.punktum.dk',
  no: 'whois.norid.no',
  fi: 'whois.fi',
  ru: 'whois.tcinet.ru',
  ua: 'whois.ua',
  jp: 'whois.jprs.jp',
  kr: 'whois.kr',
  cn: 'whois.cnnic.cn',
  tw: 'whois.twnic.net.tw',
  hk: 'whois.hkirc.hk',
  sg: 'whois.sgnic.sg',
  in: 'whois.nixiregistry.in',
  au: 'whois.auda.org.au',
  nz: 'whois.irs.net.nz',
  br: 'whois.registro.br',
  ca: 'whois.cira.ca',
  us: 'whois.nic.us',
  mx: 'whois.mx',
};

/** Answers for a top-level domain with the server that knows more. */
const ianaServer = 'whois.iana.org';

export function rdapServerOf(domain: string): string | undefined {
  const top = topLevel(domain);
  return Object.hasOwn(rdapServers, top) ? rdapServers[top] : undefined;
}

/** A server for the domain; `viaIana`: it only knows where to ask. */
export function whoisServerOf(domain: string): { readonly server: string; readonly viaIana: boolean } {
  const top = topLevel(domain);
  const known = Object.hasOwn(whoisServers, top) ? whoisServers[top] : undefined;
  return known === undefined ? { server: ianaServer, viaIana: true } : { server: known, viaIana: false };
}

/** The line that a server wants for one domain; some take a plain name for a search, or answer in another alphabet. */
export function whoisQuery(server: string, domain: string): string {
  if (server === 'whois.verisign-grs.com') return `domain ${domain}\r\n`;
  if (server === 'whois.denic.de') return `-T dn,ace ${domain}\r\n`;
  if (server === 'whois.jprs.jp') return `${domain}/e\r\n`;
  if (server === 'whois.punktum.dk') return `--show-handles ${domain}\r\n`;
  return `${domain}\r\n`;
}

function topLevel(domain: string): string {
  return domain.slice(domain.lastIndexOf('.') + 1);
}
