import type { Notice, NoticeOccasion } from '../notice.ts';
import type { DurationParts, Matter } from '../words/words.ts';
import type { Said } from './said.ts';
import type { Setting } from './draft.ts';

/** All that a part of a message about one thing is made from. */
export type Telling = {
  readonly setting: Setting;
  readonly notice: Notice;
  readonly occasion: NoticeOccasion;
  readonly matter: Matter;
  readonly said: Said;
  /** How long it has lasted, or did. */
  readonly lasted: DurationParts;
};
