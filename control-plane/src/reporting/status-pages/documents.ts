import { publicStatusRoute } from '@parallax/api-contract';
import { chartDocuments } from './charts/documents.ts';
import { fileDocuments } from './files/documents.ts';
import { formatDocuments } from './formats/documents.ts';
import { htmlDocuments } from './html/documents.ts';
import type { DocumentBase } from './serving/index.ts';
import type { PageDocument } from './view/page-document.ts';
import { publicStatusOf } from './view/public-status.ts';

const ofApi: PageDocument = {
  contract: publicStatusRoute,
  path: '',
  contentType: 'application/json; charset=utf-8',
  isTranslated: false,
  isShared: true,
  render: (view) => JSON.stringify(publicStatusOf(view)),
};

/** Every form of a page, with where it is. */
export const documentBases: readonly DocumentBase[] = [
  { prefix: '/status/', documents: [...htmlDocuments, ...chartDocuments, ...fileDocuments, ...formatDocuments] },
  { prefix: '/api/v1/public/status/', documents: [ofApi] },
];
