import { z } from 'zod';
import { mostGroupMembers } from './monitor-groups.ts';
import { bodyId } from './shared.ts';

/** Settings of the protocol `group`. */
export const groupCheckSettings = z
  .strictObject({
    monitor_ids: z
      .array(bodyId)
      .max(mostGroupMembers)
      .overwrite((ids) => [...new Set(ids)].sort((one, other) => one - other))
      .optional()
      .describe('Monitors of the same workspace. One that is deleted or moved away is named no more.'),
    group_id: bodyId.optional().describe('A monitor group of the same workspace, instead of `monitor_ids`.'),
    minimum_up: z
      .number()
      .int()
      .min(1)
      .max(mostGroupMembers)
      .optional()
      .describe(
        'How many members must be up; never more than there are. Left out: all whose status is known. A paused member and one whose status is ' +
          'UNKNOWN count neither as up nor as down.',
      ),
  })
  .superRefine((settings, context) => {
    if ((settings.monitor_ids === undefined) !== (settings.group_id === undefined)) return;
    context.addIssue({
      code: 'custom',
      path: [settings.monitor_ids === undefined ? 'monitor_ids' : 'group_id'],
      message: 'a monitor of the protocol group needs monitor_ids or group_id, one of them; null clears the other one',
    });
  });
export type GroupCheckSettings = z.output<typeof groupCheckSettings>;
