export * from './authority.ts';
export * from './certificate-facts.ts';
export * from './ed25519.ts';
export * from './errors.ts';
export * from './nats-authority.ts';
export * from './nats-jwt.ts';
export * from './nkeys.ts';
export * from './renewal.ts';
export {
  createSigningRequest,
  verifySigningRequest,
  type SigningRequest,
  type VerifiedRequest,
} from './signing-request.ts';
