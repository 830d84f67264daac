import type { PageDocument } from '../view/page-document.ts';
import type { PageView } from '../view/page-view.ts';
import { contextOf } from './context.ts';
import { renderHistory } from './history.ts';
import { renderIncident } from './incident.ts';
import { renderPage } from './page.ts';
import { policyOf } from './style.ts';
import { renderSubscribe } from './subscribe.ts';

const shape = {
  contentType: 'text/html; charset=utf-8',
  isTranslated: true,
  isShared: false,
  isForPeople: true,
  policy: (view: PageView) => policyOf(view),
} as const;
const below = { policy: (view: PageView) => policyOf(view, 'below') } as const;

/** A page as people see it: what is now, what was, and one incident. All of it is complete without scripts. */
export const htmlDocuments: readonly PageDocument[] = [
  { ...shape, path: '', render: (view, asked) => renderPage(contextOf(view, asked)) },
  { ...shape, ...below, path: '/history', render: (view, asked) => renderHistory(contextOf(view, asked)) },
  {
    ...shape,
    path: '/subscribe',
    policy: (view) => policyOf(view, 'form'),
    render: (view, asked) => renderSubscribe(contextOf(view, asked)),
  },
  {
    ...shape,
    ...below,
    path: '/incidents/:id',
    render: (view, asked) => renderIncident(contextOf(view, asked), asked.id),
  },
];
