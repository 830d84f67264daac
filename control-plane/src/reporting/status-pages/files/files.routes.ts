import { deleteStatusPageFileRoute, invalidInput, Problem, putStatusPageFileRoute } from '@parallax/api-contract';
import type { Context } from '../../../context.ts';
import { etagOf } from '../../../platform/http/etag.ts';
import { handle } from '../../../platform/http/handler.ts';
import type { Route } from '../../../platform/http/handler.ts';
import { changePage, noPage, shown } from '../pages/pages.gateway.ts';
import { countVersion } from '../pages/pages.queries.ts';
import { removeFile, writeFile } from './files.queries.ts';
import { pictureOf } from './picture.ts';

/** Giving a page its pictures, and taking them away. */
export function fileRoutes(context: Context): Route[] {
  return [
    handle(putStatusPageFileRoute, async ({ params, file, caller, request }) => {
      if (file === undefined) throw invalidInput('body', '', 'file_required', 'send a PNG, a WebP or an SVG');
      const { id, kind } = params;
      const picture = pictureOf(file.bytes);
      const actor = { caller, request };
      const row = await changePage(context, actor, id, async (_scope, tx, page) => {
        if (page.files.some((each) => each.kind === kind && each.hash === picture.hash)) return null;
        await writeFile(tx, page, kind, picture);
        await countVersion(tx, id);
        return { action: 'status_page.file_changed', detail: { file: kind } };
      });
      if (row === null) throw noPage(id);
      return shown(context, actor, row);
    }),

    handle(deleteStatusPageFileRoute, async ({ params, caller, request }) => {
      const { id, kind } = params;
      const row = await changePage(context, { caller, request }, id, async (_scope, tx, page) => {
        if (!page.files.some((each) => each.kind === kind)) {
          throw new Problem('not_found', `status page ${id} has no ${kind}`);
        }
        await removeFile(tx, page, kind);
        await countVersion(tx, id);
        return { action: 'status_page.file_removed', detail: { file: kind } };
      });
      if (row !== null) request.reply.header('etag', etagOf(row.version));
    }),
  ];
}
