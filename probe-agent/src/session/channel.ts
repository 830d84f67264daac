import { credentials } from '@grpc/grpc-js';
import type { ChannelCredentials, ClientOptions } from '@grpc/grpc-js';
import { certificatePem, controlPlaneServerName } from '@parallax/pki';

/** Options of every channel to the control plane: its certificate is checked for one fixed name, whatever address is dialled. */
export const channelOptions: ClientOptions = {
  'grpc.ssl_target_name_override': controlPlaneServerName,
  'grpc.default_authority': controlPlaneServerName,
  'grpc.keepalive_time_ms': 10_000,
  'grpc.keepalive_timeout_ms': 10_000,
  'grpc.max_receive_message_length': 16 * 1024 * 1024,
  'grpc.initial_reconnect_backoff_ms': 250,
  'grpc.max_reconnect_backoff_ms': 5_000,
  // One channel of its own for each client: a new certificate must not ride on an old connection.
  'grpc.use_local_subchannel_pool': 1,
  'grpc.enable_http_proxy': 0,
  'grpc.service_config_disable_resolution': 1,
};

/** Server TLS only, for enrolment: the authority is the only one that is trusted. */
export function serverTls(authorityDer: Uint8Array): ChannelCredentials {
  return credentials.createSsl(Buffer.from(certificatePem(authorityDer)));
}

/** Mutual TLS with the probe's own certificate. */
export function mutualTls(authorityDer: Uint8Array, certificateDer: Uint8Array, keyPem: string): ChannelCredentials {
  return credentials.createSsl(
    Buffer.from(certificatePem(authorityDer)),
    Buffer.from(keyPem),
    Buffer.from(certificatePem(certificateDer)),
  );
}
