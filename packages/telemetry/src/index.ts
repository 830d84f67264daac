export { createLogger, type Logger, type LoggerOptions } from './logger.ts';
export type { Metrics, Page, PageAnswer } from './metrics.ts';
export { createShutdown, type Shutdown, type ShutdownOptions } from './shutdown.ts';
export { isSecretKey, redact, redacted, redactText } from './redact.ts';
export { readableLine } from './readable-lines.ts';
