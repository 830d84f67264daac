/**
 * Every stable error code: the number that stands for it in the database and on the wire, and what it means, as one sentence for a
 * person. In the order of the numbers. A number is never used again, and 0 is "no error"; a code and its meaning stay for ever.
 */
const codes = {
  dns_nxdomain: { number: 1, meaning: 'The name of the target does not exist.' },
  dns_no_answer: { number: 2, meaning: 'The name exists but has no record of the type that is needed.' },
  dns_timeout: { number: 3, meaning: 'The name server did not answer in time.' },
  dns_servfail: { number: 4, meaning: 'The name server could not answer (SERVFAIL), or its answer could not be read.' },
  dns_refused: { number: 5, meaning: 'The name server refused the question.' },
  dns_wrong_answer: { number: 6, meaning: 'The records of the name are not the expected ones.' },
  dns_wrong_rcode: { number: 7, meaning: 'The name server answered with another response code than the expected one.' },
  address_denied: {
    number: 10,
    meaning:
      'The address may not be checked: it is not public and not allowed by the operator, or belongs to the cloud or to this system.',
  },
  address_family_missing: {
    number: 11,
    meaning: 'The target has no address of the wanted family, or the probe has no route for that family.',
  },
  connect_refused: { number: 20, meaning: 'The target refused the connection.' },
  connect_timeout: { number: 21, meaning: 'No connection came about in time.' },
  connect_unreachable: { number: 22, meaning: 'The network says that the target cannot be reached.' },
  connect_reset: { number: 23, meaning: 'The connection was reset or closed instead of being used.' },
  connect_failed: { number: 24, meaning: 'The connection failed for another reason, which the message names.' },
  tls_timeout: { number: 30, meaning: 'The TLS handshake did not end in time.' },
  tls_handshake: { number: 31, meaning: 'The TLS handshake failed.' },
  tls_expired: { number: 32, meaning: 'A certificate of the chain has expired.' },
  tls_not_yet_valid: { number: 33, meaning: 'A certificate of the chain is not valid yet.' },
  tls_hostname: { number: 34, meaning: 'The certificate is for another name.' },
  tls_self_signed: { number: 35, meaning: 'The certificate is signed by itself.' },
  tls_untrusted: { number: 36, meaning: 'The chain does not end in a trusted authority.' },
  tls_incomplete_chain: {
    number: 37,
    meaning: 'The server does not send the intermediate certificate that leads to a trusted authority.',
  },
  tls_weak: {
    number: 38,
    meaning: 'The key, signature, version or cipher is too weak, or not among those that the settings allow.',
  },
  tls_fingerprint: { number: 39, meaning: 'The certificate is not the pinned one.' },
  tls_expires_soon: { number: 40, meaning: 'The certificate ends in fewer days than the settings ask for.' },
  http_timeout: { number: 50, meaning: 'The server took the request but did not answer it in time.' },
  http_protocol: { number: 51, meaning: 'The answer breaks the rules of HTTP or cannot be decoded.' },
  http_status: { number: 52, meaning: 'The status code is not an expected one.' },
  http_header: { number: 53, meaning: 'A header is missing or not as expected.' },
  http_too_large: {
    number: 54,
    meaning:
      'The body is larger than what is read: 4 MiB when inflated, or 1 MiB of an answer that is needed as a whole.',
  },
  http_redirect: { number: 55, meaning: 'A redirect cannot be followed, or there are too many.' },
  http_closed: { number: 56, meaning: 'The connection ended before the answer was complete.' },
  http_headers_too_large: { number: 57, meaning: 'The headers of the answer are larger than 64 KiB.' },
  keyword_missing: { number: 60, meaning: 'The keyword does not occur in the body.' },
  keyword_present: { number: 61, meaning: 'The keyword that must be absent occurs in the body.' },
  response_mismatch: { number: 62, meaning: 'The target answered, but not with what is expected.' },
  response_timeout: { number: 63, meaning: 'The target was reached but did not answer, or not completely, in time.' },
  ping_no_reply: { number: 70, meaning: 'No ping was answered.' },
  ping_loss: { number: 71, meaning: 'More pings were lost than the settings allow.' },
  response_slow: { number: 80, meaning: 'The answer took longer than the degraded threshold of the monitor.' },
  inverted_answer: { number: 81, meaning: 'The target must not answer, and it did.' },
  target_invalid: {
    number: 82,
    meaning: 'The target cannot be checked by this type; the message says how it is written.',
  },
  overrun: { number: 90, meaning: 'The check before had not ended when this one was due, so this one was not run.' },
  overload: { number: 91, meaning: 'The probe had no room for this check.' },
  probe_uplink: { number: 92, meaning: 'The probe had lost its own connection to the network.' },
  probe_clock: {
    number: 93,
    meaning: 'The time of the result cannot be trusted, because the clock of the probe could not.',
  },
  probe_capability: {
    number: 94,
    meaning: 'The probe lacks what the check needs: a program, a right, a socket or the type itself.',
  },
  probe_internal: { number: 95, meaning: 'Something failed inside the probe, or it cannot read the settings.' },
  cancelled: { number: 96, meaning: 'The run was no longer wanted.' },
  assertion_failed: { number: 100, meaning: 'An assertion of the monitor does not hold.' },
  address_partial: { number: 101, meaning: 'Some addresses of the name are bad and others are not.' },
  page_parked: { number: 102, meaning: 'The page is that of a parked domain.' },
  page_suspended: { number: 103, meaning: 'The page says that the account or domain is suspended or has expired.' },
  page_for_sale: { number: 104, meaning: 'The page offers the domain for sale.' },
  page_blocked: { number: 105, meaning: "The page is a notice of a block or a challenge instead of the target's own." },
  http_body_size: { number: 120, meaning: 'The body is smaller or larger than the settings allow.' },
  http_json: { number: 121, meaning: 'The body is not JSON, or its value at the path is not the expected one.' },
  http_final_url: { number: 122, meaning: 'The redirects led to another URL than the expected one.' },
  http_version: { number: 123, meaning: 'The server answered in another version of HTTP than the expected one.' },
  http_challenge: { number: 124, meaning: 'The server asks for credentials in a way that the check cannot answer.' },
  oauth2_token: { number: 125, meaning: 'The token endpoint gave no token.' },
  tls_client_certificate: {
    number: 126,
    meaning: 'The server did not accept the certificate of the check, or asks for one that it was not given.',
  },
  ws_upgrade: { number: 127, meaning: 'The server did not change to WebSocket.' },
  ws_protocol: { number: 128, meaning: 'The answer breaks the rules of WebSocket.' },
  ws_subprotocol: { number: 129, meaning: 'The server chose another subprotocol than the ones that were offered.' },
  ws_closed: { number: 130, meaning: 'The server ended the connection before the expected message came.' },
  grpc_protocol: { number: 131, meaning: 'The server does not speak gRPC over HTTP/2.' },
  grpc_status: { number: 132, meaning: 'The call ended with a status other than OK.' },
  grpc_not_serving: { number: 133, meaning: 'The service says that it is not serving.' },
  ntp_kiss: {
    number: 140,
    meaning: "The time server answered with a kiss-o'-death, which tells clients to stop or slow down.",
  },
  ntp_unsynchronised: { number: 141, meaning: 'The time server says that its own clock is not synchronised.' },
  ntp_stratum: { number: 142, meaning: 'The stratum of the time server is higher than the settings allow.' },
  ntp_offset: { number: 143, meaning: 'The clock of the time server is off by more than the settings allow.' },
  socks_protocol: { number: 144, meaning: 'The answer breaks the rules of SOCKS5.' },
  socks_auth_failed: { number: 145, meaning: 'The proxy does not accept the user name and password.' },
  socks_auth_required: {
    number: 146,
    meaning: 'The proxy asks for a user name and password, and the settings have none.',
  },
  socks_connect_failed: { number: 147, meaning: 'The proxy could not connect to the destination.' },
  mtproxy_protocol: { number: 148, meaning: "The answer is none of Telegram's, or is an error of it." },
  mtproxy_secret: {
    number: 149,
    meaning: 'The proxy did not show that it knows the secret: the secret is wrong, or this is no MTProxy.',
  },
  dns_not_authentic: { number: 150, meaning: 'The name server did not verify the answer by DNSSEC (no flag AD).' },
  dns_transport: { number: 151, meaning: 'The name server could not be asked over this transport.' },
  ping_jitter: { number: 152, meaning: 'The round trips vary more than the settings allow.' },
  path_incomplete: { number: 153, meaning: 'The path does not reach the target.' },
  path_too_long: { number: 154, meaning: 'The path has more hops than the settings allow.' },
  starttls_refused: { number: 160, meaning: 'The server does not offer the change to TLS or refused it.' },
  starttls_protocol: { number: 161, meaning: 'The answer on the way to TLS is not that of this protocol.' },
  ldap_protocol: { number: 162, meaning: 'The answer breaks the rules of LDAP.' },
  ldap_bind: { number: 163, meaning: 'The directory refused the bind.' },
  ldap_result: { number: 164, meaning: 'The search failed or did not find what is expected.' },
  snmp_protocol: { number: 165, meaning: 'The answer is no answer of SNMP to this question.' },
  snmp_credentials: { number: 166, meaning: 'The agent refuses the community, the user or the access to the object.' },
  snmp_no_such_object: { number: 167, meaning: 'The agent has no such object.' },
  snmp_error: { number: 168, meaning: 'The agent answered with an error.' },
  radius_reject: { number: 169, meaning: 'The server rejected the login.' },
  radius_protocol: { number: 170, meaning: 'The answer is no answer of RADIUS to this request.' },
  radius_secret: { number: 171, meaning: 'The answer was not made with this secret.' },
  sip_status: { number: 172, meaning: 'The status of the answer is not an expected one.' },
  sip_protocol: { number: 173, meaning: 'The answer is no answer of SIP to this request.' },
  mail_protocol: { number: 180, meaning: 'The answer breaks the rules of the mail protocol.' },
  mail_unavailable: {
    number: 181,
    meaning: 'The mail server says that it does not serve now, or refuses this client.',
  },
  mail_login: { number: 182, meaning: 'The mail server refused the login or does not offer it.' },
  mail_tls_required: { number: 183, meaning: 'The mail server allows no login without TLS.' },
  ftp_protocol: { number: 185, meaning: 'The answer breaks the rules of FTP.' },
  ftp_unavailable: { number: 186, meaning: 'The FTP server says that it does not serve now.' },
  ftp_login: { number: 187, meaning: 'The FTP server refused the login.' },
  ftp_data: { number: 188, meaning: 'No data connection came about.' },
  ftp_path: { number: 189, meaning: 'The folder cannot be listed.' },
  ssh_protocol: { number: 191, meaning: 'The answer is not SSH.' },
  ssh_handshake: { number: 192, meaning: 'The key exchange failed.' },
  ssh_host_key: { number: 193, meaning: 'The key of the host is not among the pinned ones.' },
  ssh_login: { number: 194, meaning: 'The server refused the login.' },
  sftp_unavailable: { number: 195, meaning: 'The server does not open the subsystem sftp.' },
  sftp_path: { number: 196, meaning: 'The path is not there or may not be seen.' },
  db_auth_failed: {
    number: 200,
    meaning: 'The database refused the login, or did not prove that it knows the password.',
  },
  db_auth_unsupported: {
    number: 201,
    meaning: 'The database asks for a login of a kind that the check does not speak.',
  },
  db_refused: { number: 202, meaning: 'The database refuses the session for another reason than the login.' },
  db_unavailable: { number: 203, meaning: 'The database says that it cannot serve now.' },
  db_unknown_database: { number: 204, meaning: 'The server has no such database, or the user may not open it.' },
  db_query_failed: { number: 205, meaning: 'The query failed.' },
  db_wrong_result: { number: 206, meaning: 'The result of the query is not the expected one.' },
  db_result_too_large: { number: 207, meaning: 'The result of the query is larger than the check reads.' },
  db_tls_missing: { number: 208, meaning: 'The database offers no TLS, and the settings ask for it.' },
  db_protocol: { number: 209, meaning: "The answer breaks the rules of the database's protocol." },
  broker_protocol: { number: 220, meaning: "The answer breaks the rules of the broker's protocol." },
  broker_closed: { number: 221, meaning: 'The broker ended the connection in the middle of the conversation.' },
  broker_auth: { number: 222, meaning: 'The broker refused the login.' },
  broker_denied: { number: 223, meaning: 'The broker does not allow this user what the check asks for.' },
  broker_unavailable: { number: 224, meaning: 'The broker says that it cannot serve now.' },
  broker_message: { number: 225, meaning: 'The message that was published did not come back.' },
  broker_topic: { number: 226, meaning: 'The topic or queue is missing or not as expected.' },
  broker_tls_required: { number: 227, meaning: 'The broker offers no TLS, and the settings ask for it.' },
  container_missing: { number: 230, meaning: 'The host has no such container.' },
  container_not_running: {
    number: 231,
    meaning: 'The container is not in the expected state, which is `running` unless the settings say otherwise.',
  },
  container_unhealthy: { number: 232, meaning: 'The container is unhealthy by its own health check.' },
  container_restarted: {
    number: 233,
    meaning: 'The container has run for a shorter time, or was restarted more often, than the settings allow.',
  },
  game_protocol: { number: 235, meaning: 'The answer is not that of a server of this game.' },
  game_mismatch: { number: 236, meaning: 'The game server is not as expected.' },
  dnsbl_listed: { number: 240, meaning: 'The address or domain is on a list.' },
  dnsbl_unavailable: { number: 241, meaning: 'A list could not be asked, or refuses this asker.' },
  whois_expired: { number: 242, meaning: 'The registration of the domain has ended.' },
  whois_expires_soon: {
    number: 243,
    meaning: 'The registration of the domain ends in fewer days than the settings ask for.',
  },
  whois_not_found: { number: 244, meaning: 'The domain is not registered.' },
  whois_no_date: { number: 245, meaning: 'The registry publishes no end of the registration.' },
  whois_registrar: { number: 246, meaning: 'The registrar is not the expected one.' },
  whois_name_servers: { number: 247, meaning: 'The name servers of the domain are not the expected ones.' },
  whois_status: { number: 248, meaning: 'The domain has a status that the settings do not allow.' },
  whois_rate_limited: { number: 249, meaning: 'The registry refuses because of too many questions.' },
  whois_no_server: { number: 250, meaning: 'No server of the registry is known for this domain.' },
  whois_unreadable: { number: 251, meaning: 'The answer of the registry cannot be read.' },
  pagespeed_budget: { number: 252, meaning: 'The page is beyond one of the limits of the settings.' },
  pagespeed_not_loaded: { number: 253, meaning: 'The page did not load.' },
  members_down: { number: 254, meaning: 'Members of a monitor of the protocol `group` are down.' },
  members_unknown: {
    number: 255,
    meaning: 'Of too few members of a monitor of the protocol `group` it is known whether they are up.',
  },
  step_failed: { number: 260, meaning: 'Several steps of the check failed; the message names the first.' },
  variable_missing: {
    number: 261,
    meaning: 'A step names a value that is neither a variable, a secret nor extracted before.',
  },
  variable_unusable: { number: 262, meaning: 'A value cannot be written at the place where a step names it.' },
  extract_failed: { number: 263, meaning: 'The answer to a step does not hold what was to be extracted from it.' },
  proxy_error: {
    number: 270,
    meaning:
      'The proxy of the monitor could not be used: it was not reached, broke its protocol or refused to connect.',
  },
  proxy_auth: { number: 271, meaning: 'The proxy of the monitor asks for a user name and password, or refused them.' },
} as const satisfies Readonly<Record<string, { readonly number: number; readonly meaning: string }>>;
export type ErrorCode = keyof typeof codes;

/** The number of each code. */
export const errorCodes = each('number');
/** What each code means, as one sentence. */
export const codeMeanings = each('meaning');

const codeByNumber = new Map(Object.entries(codes).map(([code, { number }]) => [number as number, code as ErrorCode]));

/** The code behind a stored number; undefined for 0 and for numbers of a newer version. */
export function errorCodeOf(number: number): ErrorCode | undefined {
  return codeByNumber.get(number);
}

function each<Field extends 'number' | 'meaning'>(
  field: Field,
): { readonly [Code in ErrorCode]: (typeof codes)[Code][Field] } {
  return Object.fromEntries(Object.entries(codes).map(([code, facts]) => [code, facts[field]])) as {
    readonly [Code in ErrorCode]: (typeof codes)[Code][Field];
  };
}
