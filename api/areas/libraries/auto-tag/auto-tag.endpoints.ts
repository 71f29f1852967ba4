import { defineEndpoint, json } from '#kernel/endpoint.ts';
import { IdParams } from '#kernel/schemas.ts';
import { getLibraryRow } from '../libraries.store.ts';
import { AutoTag, AutoTagged } from './auto-tag.schemas.ts';
import { AutoTagger } from './auto-tag.ts';

/** Items of one request; a job examines the others. */
const AT_ONCE = 2000;

export const autoTagLibrary = defineEndpoint({
  operationId: 'autoTagLibrary',
  method: 'post',
  path: '/libraries/:id/auto-tag',
  summary: 'Add known names that file names contain',
  description:
    'Finds names that the server knows as whole words in folder and file names, without case and accents, the longest first. Only a template adds a name that is new. Locked fields stay as they are, and values are added, never removed. Up to 2,000 items are examined in the request; the job `jobId` examines the others.',
  access: { permission: 'library:manage' },
  params: IdParams,
  body: AutoTag,
  answer: json(200, AutoTagged),
  emits: ['item.updated'],

  async handle({ params, body }, call) {
    const { who } = call;
    const { id: libraryId } = await getLibraryRow(call.db, who, params.id);
    const run = { ...body, libraryId };
    const { last, ...counts } = await (await AutoTagger.of(call.db, { ...run, who })).next(call.db, undefined, AT_ONCE);
    const options = { key: `library.auto-tag:${libraryId}:${last ?? ''}`, libraryId };
    const jobId =
      last && (await call.enqueue('library.auto-tag', { ...run, after: last, accountId: who.accountId }, options));
    return { dryRun: body.dryRun, ...(jobId && { jobId }), ...counts };
  },
});
