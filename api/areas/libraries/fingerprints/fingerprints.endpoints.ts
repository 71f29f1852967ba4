import { defineEndpoint, json } from '#kernel/endpoint.ts';
import { page } from '#kernel/page.ts';
import { IdParams } from '#kernel/schemas.ts';
import { getLibraryRow } from '../libraries.store.ts';
import { duplicatesPage } from './duplicates.ts';
import { DuplicateGroup, DuplicatesQuery, FingerprintProgress, FingerprintRequest } from './fingerprints.schemas.ts';
import { progressOf } from './progress.ts';
import { requestFingerprints } from './request.ts';

export const listDuplicates = defineEndpoint({
  operationId: 'listDuplicates',
  method: 'get',
  path: '/libraries/:id/duplicates',
  summary: 'List groups of files that are alike',
  description:
    'Exact groups have equal bytes; near ones differ by at most `distance` bits of a 64-bit fingerprint, which makeFingerprints makes. Groups hold items that the caller may see; a group with one of them is not listed. Versions of one item and extras are not duplicates.',
  access: { permission: 'library:view' },
  params: IdParams,
  query: DuplicatesQuery,
  answer: page(DuplicateGroup, { fingerprints: FingerprintProgress }),

  async handle({ params, query }, call) {
    const library = await getLibraryRow(call.db, call.who, params.id);
    return { ...(await duplicatesPage(call, library, query)), fingerprints: await progressOf(call.db, library) };
  },
});

export const getFingerprints = defineEndpoint({
  operationId: 'getFingerprints',
  method: 'get',
  path: '/libraries/:id/fingerprints',
  summary: 'Read the progress of fingerprinting',
  description: 'Lists the kinds that apply to the type of the library; zeros when none were made.',
  access: { permission: 'library:view' },
  params: IdParams,
  answer: json(200, FingerprintProgress),

  async handle({ params }, call) {
    return progressOf(call.db, await getLibraryRow(call.db, call.who, params.id));
  },
});

export const makeFingerprints = defineEndpoint({
  operationId: 'makeFingerprints',
  method: 'post',
  path: '/libraries/:id/fingerprints',
  summary: 'Make the fingerprints of the files of a library',
  description:
    'Queues the files without a fingerprint of the current version; all with `redo`. A repeated request while the job runs returns its progress. The job waits for the night, 01:20 UTC, when `analysis.fingerprints` is `window`. A kind that does not apply to the type is 400.',
  access: { permission: 'library:manage' },
  params: IdParams,
  body: FingerprintRequest,
  answer: json(200, FingerprintProgress),

  async handle({ params, body }, call) {
    const library = await getLibraryRow(call.db, call.who, params.id);
    await requestFingerprints(call, library, body);
    return progressOf(call.db, library);
  },
});
