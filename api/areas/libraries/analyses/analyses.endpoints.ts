import { removeTrickplay } from '#areas/streaming/public.ts';
import { defineEndpoint, json } from '#kernel/endpoint.ts';
import { IdParams } from '#kernel/schemas.ts';
import { requestCancelOf } from '#platform/queue.ts';
import { getLibraryRow } from '../libraries.store.ts';
import { AnalysesQueued, TrickplayRemoved } from './analyses.schemas.ts';
import { forgetAnalysis } from './analyses.store.ts';
import { analyzeNow } from './analyze.ts';

export const analyzeLibrary = defineEndpoint({
  operationId: 'analyzeLibrary',
  method: 'post',
  path: '/libraries/:id/analyze',
  summary: 'Analyse the files of a library now',
  description:
    'Queues the files that lack an analysis which is switched on for the server (`analysis.*`) and for the library. One job runs at a time, outside the maintenance window, and waits while anyone streams. Nothing already done is queued again. Files on an unavailable storage are not queued; the next request finds them. `off` names the switch of each analysis that applies to the type and is off. This version has no detector for `acousticFeatures` and `faces`: they are absent from `queued` and `off`.',
  access: { permission: 'library:manage' },
  params: IdParams,
  answer: json(200, AnalysesQueued),

  async handle({ params }, call) {
    return analyzeNow(call, await getLibraryRow(call.db, call.who, params.id));
  },
});

export const deleteTrickplay = defineEndpoint({
  operationId: 'deleteTrickplay',
  method: 'delete',
  path: '/libraries/:id/trickplay',
  summary: 'Delete the preview thumbnails of a library',
  description:
    'getTrickplay of its files is 404 immediately; the pictures leave the object store in the background. Queued thumbnail jobs of the library are cancelled. New thumbnails are made only while `previewThumbnails` of the library and `analysis.preview_thumbnails` of the server are on.',
  access: { permission: 'library:manage' },
  params: IdParams,
  answer: json(200, TrickplayRemoved),

  async handle({ params }, call) {
    const { id } = await getLibraryRow(call.db, call.who, params.id);
    await requestCancelOf(call.db, 'analysis.previews', id);
    await forgetAnalysis(call.db, 'previewThumbnails', id);
    const removed = await removeTrickplay(call.db, id);
    if (removed > 0) await call.enqueue('objects.sweep', { only: 'trickplay' }, { key: 'objects.sweep:trickplay' });
    return { removed };
  },
});
