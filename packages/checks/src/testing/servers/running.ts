/** A server on loopback that a test has started. */
export type Running = {
  readonly port: number;
  /** As a monitor would name it. */
  readonly url: string;
  /** Ends it and waits until it is gone; the end of the test does the same. */
  readonly stop: () => Promise<void>;
};

/** A certificate and its key, in PEM form, for a server to show. */
export type ServerCertificate = { readonly cert: string; readonly key: string };
