import { z } from 'zod';

/** A setting of channels that are paid for by the short message. */
export const segments = z
  .int()
  .min(1)
  .max(6)
  .default(2)
  .describe('How many short messages one alert may take, each of which is paid for.');
