/** What has days. */
export const subjectTypes = ['monitor', 'heartbeat', 'webhook_check'] as const;
export type SubjectType = (typeof subjectTypes)[number];
