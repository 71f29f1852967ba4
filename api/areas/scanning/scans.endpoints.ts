import { may } from '#identity/principal.ts';
import { type Call, defineEndpoint, json } from '#kernel/endpoint.ts';
import { conflict } from '#kernel/errors.ts';
import { page, pageOf, parseSort } from '#kernel/page.ts';
import { IdParams } from '#kernel/schemas.ts';
import { requestScan } from './request-scan.ts';
import { toIssue, toScan } from './scan-view.ts';
import { Scan, ScanDecision, ScanQuery, ScansQuery, StartScan, scanSorts } from './scanning.schemas.ts';
import {
  type GuardRow,
  getScanRow,
  keepAbsent,
  listIssues,
  lockScanRow,
  requestCancel,
  type ScanRow,
  saveGuard,
  visibleScans,
} from './scans.store.ts';
import { refuseUnavailable, startScanOf } from './start.ts';

export const startScan = defineEndpoint({
  operationId: 'startScan',
  method: 'post',
  path: '/libraries/:id/scan',
  summary: 'Scan a library, or some directories of it',
  access: { permission: 'scan:trigger' },
  params: IdParams,
  body: StartScan,
  optionalBody: true,
  answer: json(202, Scan),
  errors: ['CONFLICT', 'STORAGE_UNAVAILABLE'],
  emits: ['library.scan.started', 'library.scan.progress', 'library.scan.completed', 'library.scan.failed'],

  async handle({ params, body }, call) {
    const { id, covered } = await startScanOf(call, params.id, body);
    if (covered) call.reply.status(200);
    return toScan(call, await getScanRow(call.db, call.who, id));
  },
});

export const listScans = defineEndpoint({
  operationId: 'listScans',
  method: 'get',
  path: '/scans',
  summary: 'List scans, newest first',
  access: { permission: 'library:view' },
  query: ScansQuery,
  answer: page(Scan),

  async handle({ query }, call) {
    const { db, who, deps } = call;
    const { cursor, limit, sort, ...filter } = query;
    const rows = visibleScans(db, who);
    if (filter.libraryId) rows.where('s.library_id', filter.libraryId);
    if (filter.state) rows.whereIn('s.state', filter.state);
    if (filter.trigger) rows.where('s.trigger', filter.trigger);
    if (filter.guard) rows.whereRaw(`s.guard ->> 'decision' = 'pending' and s.guard ->> 'supersededBy' is null`);
    const found = await pageOf<ScanRow, ScanRow>(db, rows, {
      keys: deps.keys,
      terms: parseSort(sort, scanSorts, '-queuedAt'),
      cursor,
      limit,
      scope: JSON.stringify(['listScans', who.accountId, filter]),
      idColumn: 's.id',
      toItem: (row) => row,
    });
    const items: Scan[] = [];
    for (const row of found.items) items.push(await toScan(call, row));
    return { items, page: found.page };
  },
});

export const getScan = defineEndpoint({
  operationId: 'getScan',
  method: 'get',
  path: '/scans/:id',
  summary: 'One scan; counts of a running one are a second old at most',
  access: { permission: 'library:view' },
  params: IdParams,
  query: ScanQuery,
  answer: json(200, Scan),

  async handle({ params, query }, call) {
    const scan = await toScan(call, await getScanRow(call.db, call.who, params.id));
    if (!query.include || !may(call.who, 'library:manage')) return scan;
    return { ...scan, issues: (await listIssues(call.db, scan.id)).map(toIssue) };
  },
});

export const cancelScan = defineEndpoint({
  operationId: 'cancelScan',
  method: 'post',
  path: '/scans/:id/cancel',
  summary: 'Stop a scan within 5 seconds; what was added stays',
  access: { permission: 'scan:trigger' },
  params: IdParams,
  answer: json(200, Scan),

  async handle({ params }, call) {
    const { db, who, now } = call;
    const row = await lockScanRow(db, who, params.id);
    if (row.state === 'queued' || row.state === 'running') await requestCancel(db, row, now);
    return toScan(call, await getScanRow(db, who, row.id));
  },
});

export const decideScanRemovals = defineEndpoint({
  operationId: 'decideScanRemovals',
  method: 'put',
  path: '/scans/:id/removals',
  summary: 'Say whether the many files that a scan did not find are really gone',
  access: { permission: 'library:manage' },
  params: IdParams,
  body: ScanDecision,
  answer: json(200, Scan),
  errors: ['CONFLICT', 'STORAGE_UNAVAILABLE'],
  emits: ['item.updated'],

  async handle({ params, body }, call) {
    const { db, who } = call;
    const row = await lockScanRow(db, who, params.id);
    const guard = pendingGuard(row);
    await decide(call, row, { guard, decision: body.decision });
    return toScan(call, await getScanRow(db, who, row.id));
  },
});

function pendingGuard({ guard }: ScanRow): GuardRow {
  if (guard?.supersededBy) throw conflict('superseded', 'A later scan asks for more', { scanId: guard.supersededBy });
  if (guard?.decision !== 'pending') throw conflict('no-pending-guard', 'Nothing waits for a decision');
  return guard;
}

/** `apply` lists the held folders once more, by a scan of its own that asks nothing about them. */
async function decide(
  call: Call,
  row: ScanRow,
  { guard, decision }: { guard: GuardRow; decision: 'apply' | 'keep' },
): Promise<void> {
  const { db, who, now } = call;
  if (decision === 'keep') {
    await keepAbsent(db, guard.folderIds);
  } else {
    const folders = await db('library_folders').whereIn('id', guard.folderIds).select('storage_id');
    await refuseUnavailable(
      call,
      folders.map((folder) => folder.storage_id),
    );
    const targets = guard.folderIds.map((folderId) => ({ folderId }));
    await requestScan(db, {
      libraryId: row.library_id,
      mode: 'full',
      trigger: 'person',
      byAccountId: who.accountId,
      targets,
    });
  }
  await saveGuard(db, row.id, { ...guard, decision, decidedBy: who.accountId, decidedAt: now.toISOString() });
}
