import type { PageDocument } from '../view/page-document.ts';
import { calendarDocuments } from './calendar.ts';
import { cardDocument } from './embed-card.ts';
import { scriptDocument } from './embed-script.ts';
import { feedDocuments } from './feed-forms.ts';
import { statuspageDocuments } from './statuspage.ts';

/** The forms of a page that programs and other sites read. */
export const formatDocuments: readonly PageDocument[] = [
  ...statuspageDocuments,
  ...feedDocuments,
  ...calendarDocuments,
  cardDocument,
  scriptDocument,
];
