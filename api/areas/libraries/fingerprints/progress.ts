import type { Db } from '#platform/db.ts';
import type { FingerprintProgress } from './fingerprints.schemas.ts';
import { type FingerprintKind, fingerprints, kindsFor } from './kinds.ts';

interface Counted {
  kind: FingerprintKind;
  total: number;
  done: number;
  failed: number;
  started: Date | null;
  finished: Date | null;
}

export async function progressOf(db: Db, library: { id: string; type: string }): Promise<FingerprintProgress> {
  const { rows } = await db.raw<{ rows: Counted[] }>(
    `select p.kind, count(*)::int as total, count(*) filter (where p.state = 'done')::int as done,
       count(*) filter (where p.state = 'failed')::int as failed, min(p.at) as started,
       max(p.at) filter (where p.state <> 'queued') as finished
     from fingerprints p join media_files m on m.id = p.file_id where m.library_id = ? group by p.kind`,
    [library.id],
  );
  const job = await db('jobs')
    .where({ kind: 'library.fingerprint', library_id: library.id })
    .whereIn('state', ['waiting', 'delayed', 'active'])
    .orderByRaw(`state = 'active' desc`)
    .first('state', 'started_at');
  const left = rows.some(({ total, done, failed }) => done + failed < total);
  const finished = left ? undefined : latest(rows.map((row) => row.finished));
  const started = job?.started_at ?? undefined;
  return {
    libraryId: library.id,
    state: !job ? 'idle' : job.state === 'active' ? 'running' : 'waiting',
    kinds: kindsFor(library.type).map((kind) => {
      const { total = 0, done = 0, failed = 0 } = rows.find((row) => row.kind === kind) ?? {};
      const { algorithm, version } = fingerprints[kind];
      return { kind, algorithm, version, total, done, failed };
    }),
    pairsReady: rows.length > 0 && !left,
    ...(started && { startedAt: started.toISOString() }),
    ...(finished && { finishedAt: finished.toISOString() }),
  };
}

function latest(times: readonly (Date | null)[]): Date | undefined {
  const all = times.filter((at) => at !== null).map((at) => at.getTime());
  return all.length === 0 ? undefined : new Date(Math.max(...all));
}
