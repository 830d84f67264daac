import type { Capability } from '../../capability.ts';
import type { Context } from '../../context.ts';
import { feedbackRoutes } from './feedback.routes.ts';
import { receivedConsumer, repliedConsumer } from './mails.consumer.ts';
import { feedbackUpkeep } from './upkeep.job.ts';

/** What users tell the administrators of the installation, and what these reply. Table: `feedback`. */
export const feedbackCapability: Capability<Context> = {
  name: 'feedback',
  routes: feedbackRoutes,
  services: [feedbackUpkeep],
  consumers: [receivedConsumer, repliedConsumer],
};
