import { z } from 'zod';
import { publicUpdateStatuses } from '../../view/page-view.ts';

const shared = { id: z.string(), title: z.string().nullable(), component_names: z.array(z.string()) };
const incidentFacts = z.object({
  type: z.literal('incident'),
  ...shared,
  impact: z.enum(['none', 'minor', 'major', 'critical']),
  status: z.enum(publicUpdateStatuses),
  /** Null: the product tells the beginning or the end. */
  body: z.string().nullable(),
  at_ms: z.number(),
  started_ms: z.number(),
  resolved_ms: z.number().nullable(),
});
const maintenanceFacts = z.object({
  type: z.literal('maintenance'),
  ...shared,
  event: z.enum(['scheduled', 'moved', 'cancelled', 'reminder', 'in_progress', 'completed']),
  text: z.string().nullable(),
  starts_ms: z.number(),
  ends_ms: z.number(),
  /** When it was planned before it was moved. */
  before: z.object({ starts_ms: z.number(), ends_ms: z.number() }).optional(),
});

/** What was public when it was told, in no language. */
export const newsFacts = z.discriminatedUnion('type', [incidentFacts, maintenanceFacts]);
export type NewsFacts = z.output<typeof newsFacts>;
export type IncidentFacts = z.output<typeof incidentFacts>;
export type MaintenanceFacts = z.output<typeof maintenanceFacts>;

/** Something that subscribers are told once. */
export type News = {
  /** What it is about: messages about one thing are put together. */
  readonly subject: string;
  /** Which news of the subject it is. */
  readonly key: string;
  readonly componentIds: readonly string[];
  readonly knownMs: number;
  readonly facts: NewsFacts;
};
