import { createHash } from 'node:crypto';
import { contextOf } from '../html/context.ts';
import type { PageDocument } from '../view/page-document.ts';
import type { ComponentView, PageView } from '../view/page-view.ts';
import { chart, chartStyle } from './chart.ts';

/** The chart of a component's response times, for those components whose page shows them. */
export const chartDocuments: readonly PageDocument[] = [
  {
    path: '/charts/:id.svg',
    contentType: 'image/svg+xml; charset=utf-8',
    isTranslated: true,
    isShared: true,
    policy: policyOf,
    render: (view, asked) => {
      const component = componentOf(view, asked.id);
      const times = component?.responseTimesMs;
      return component === undefined || times === undefined ? null : chart(contextOf(view, asked), component, times);
    },
  },
];

function componentOf({ sections }: PageView, id: string): ComponentView | undefined {
  return sections.flatMap(({ components }) => components).find((each) => each.id === id);
}

/** A picture that is opened by itself is a document: nothing but its style sheet takes effect, and it has an origin of its own. */
function policyOf(view: PageView): string {
  const hash = createHash('sha256').update(chartStyle(view)).digest('base64');
  return `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox`;
}
