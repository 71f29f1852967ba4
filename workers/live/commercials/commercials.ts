// Job live.commercials: marks the commercial breaks of a recording. It never changes the file.
import { z } from 'zod';
import { saveCommercials } from '#areas/libraries/public.ts';
import { openMedia } from '#areas/storage/public.ts';
import { findSource } from '#areas/streaming/public.ts';
import type { JobPayload } from '#platform/jobs.ts';
import { isStreaming } from '#platform/lanes.ts';
import { windowOf } from '#platform/maintenance/window.ts';
import type { AnalysedFile } from '../../analysis/each-file.ts';
import { Postponed, type Work } from '../../work.ts';
import { breaksIn, stretchesWithout } from './breaks.ts';
import { learnLogo, measure } from './measure.ts';
import { append } from './spans.ts';

const STRETCH_MS = 300_000;
const MINUTE_MS = 60_000;
const TURN_MS = 15_000;

const Spans = z.array(z.object({ startMs: z.number(), endMs: z.number() }));

/** The findings of the recording up to a place. */
const Known = z.object({
  /** The file is read again from its beginning after a change. */
  modifiedMs: z.number(),
  toMs: z.number(),
  logo: z.array(z.int()).nullable(),
  blacks: Spans,
  silences: Spans,
  /** A digit a second: 1 with the logo. */
  shown: z.string(),
});
type Known = z.output<typeof Known>;

/** Each stretch is a checkpoint, at which it makes way for those who watch. */
export async function findCommercials({ fileId }: JobPayload<'live.commercials'>, work: Work): Promise<object> {
  if (!work.settings.get('dvr.detectCommercials')) return {}; // off since it was queued
  await makeWay(work);
  const source = await opened(work, fileId);
  if (!source) return {};
  const { durationMs } = source.probe;
  let known = await begun(work, source);
  await requireSame(work, fileId, source);
  while (known.toMs < durationMs) {
    await makeWay(work);
    work.signal.throwIfAborted();
    known = await further(work, source, known);
    await requireSame(work, fileId, source);
    await work.keep(work.db, known, { done: known.toMs, total: durationMs, unit: 'ms' });
  }
  work.signal.throwIfAborted();
  const { blacks, silences, logo, shown } = known;
  const bare = logo ? stretchesWithout(shown.split('').map((digit) => digit === '1')) : undefined;
  const breaks = breaksIn({ durationMs, blacks, silences, bare });
  await work.db.transaction((tx) => saveCommercials(tx, { fileId, itemId: source.itemId }, breaks));
  return { breaks: breaks.length };
}

/** Undefined for a file that is gone or was never read. */
async function opened(work: Work, fileId: string): Promise<AnalysedFile | undefined> {
  const source = await findSource(work.db, fileId);
  if (!source?.probe) return undefined;
  const place = await openMedia(work, source);
  if (place.kind === 'unavailable') throw new Postponed(new Date(Date.now() + 10 * MINUTE_MS), 'storage');
  return place.kind === 'there' ? { ...source, probe: source.probe, file: place.absolute } : undefined;
}

/** ffmpeg finds nothing in a file whose storage goes in the meantime: throws `Postponed`, so that this is no finding. */
async function requireSame(work: Work, fileId: string, source: AnalysedFile): Promise<void> {
  const now = await opened(work, fileId);
  if (now?.modifiedMs !== source.modifiedMs) throw new Postponed(new Date(Date.now() + TURN_MS));
}

async function begun(work: Work, source: AnalysedFile): Promise<Known> {
  const kept = Known.safeParse(work.checkpoint);
  if (kept.success && kept.data.modifiedMs === source.modifiedMs) return kept.data;
  const logo = (await learnLogo(source, work.signal)) ?? null;
  return {
    ...{ modifiedMs: source.modifiedMs, toMs: 0 },
    ...{ logo: logo && [...logo], blacks: [], silences: [], shown: '' },
  };
}

async function further({ signal }: Work, source: AnalysedFile, known: Known): Promise<Known> {
  const fromMs = known.toMs;
  const lengthMs = Math.min(STRETCH_MS, source.probe.durationMs - fromMs);
  const found = await measure(source, { fromMs, lengthMs, logo: known.logo ?? undefined }, signal);
  const seconds = found.logo.map((shows) => (shows ? '1' : '0')).join('');
  return {
    ...known,
    toMs: fromMs + lengthMs,
    blacks: append(known.blacks, found.blacks),
    silences: append(known.silences, found.silences),
    shown: known.shown + seconds.padEnd(Math.ceil(lengthMs / 1000), seconds.at(-1) ?? '1'),
  };
}

/** One recording at a time in the cluster, and none while anyone streams, where the window of heavy work says so. */
async function makeWay({ db, settings, jobId }: Work): Promise<void> {
  const row = await db('maintenance').first('window');
  const window = windowOf((row?.window ?? {}) as Parameters<typeof windowOf>[0], settings.get('server.timeZone'));
  if (window.yieldToStreaming && (await isStreaming(db))) throw new Postponed(new Date(Date.now() + MINUTE_MS), 'slot');
  const { rows } = await db.raw<{ rows: unknown[] }>(
    `select 1 from jobs o join jobs m on m.id = ?
     where o.id <> m.id and o.state = 'active' and o.kind = m.kind and (o.started_at, o.id) < (m.started_at, m.id) limit 1`,
    [jobId],
  );
  if (rows.length > 0) throw new Postponed(new Date(Date.now() + TURN_MS), 'slot');
}
