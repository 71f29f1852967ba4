// Job live.scan: the channels of one tuner.
import {
  findTunerRow,
  type LastScan,
  liveNetworks,
  liveOutbound,
  lockGuides,
  markStale,
  matchUnmapped,
  sealOwnGuide,
  secretsOf,
  type TunerRow,
  updateTunerRow,
} from '#areas/live-tv/public.ts';
import { type Keys, ringOf } from '#platform/keys.ts';
import { OutboundRefused } from '#platform/outbound.ts';
import { findDevice } from '../tuner/discovery.ts';
import { FinalFailure, type Work } from '../work.ts';
import { searchFrequencies } from './deep-scan.ts';
import { chosenOf, type LiveLineup } from './entries.ts';
import { type LineupPlace, NotItsKind, type Reach, readLineup } from './lineup.ts';
import { fetchLogos } from './logos.ts';
import { matched } from './match.ts';
import { SourceWriter } from './write-sources.ts';

const READ_MS = 60_000;
const HOUR_MS = 3_600_000;
/** After a failure it is read again within this time. */
const AGAIN_MS = 15 * 60_000;

interface ScanPayload {
  tunerId: string;
  deep?: boolean | undefined;
  prune?: boolean | undefined;
}

/** Reads the lineup and writes its sources and channels. */
export async function scanTuner(payload: ScanPayload, work: Work, seams: Partial<Reach> = {}): Promise<object> {
  const row = await findTunerRow(work.db, payload.tunerId);
  if (!row?.enabled) return { skipped: 'disabled' };
  const keys = await ringOf(work.config.keysFile);
  await updateTunerRow(work.db, row.id, { state: 'scanning', state_reason: null });
  const began = performance.now();
  try {
    const lineup = await read(row, keys, { payload, work, seams });
    const counts = await write(row, keys, { lineup, work, prune: payload.prune ?? false });
    if (counts.added > 0) await mapAdded(work);
    await markStale(work.db);
    const lastScan = { ...counts, at: new Date().toISOString(), durationMs: Math.round(performance.now() - began) };
    await finish(row, keys, { lineup, lastScan, work });
    await fetchLogos(work, seams.outbound);
    return lastScan;
  } catch (error) {
    if (!work.signal.aborted) await fail(row, work, error as Error);
    throw wordsOf(error as Error);
  }
}

/** Channels that were added get a guide where one names them. */
async function mapAdded({ db }: Work): Promise<void> {
  await db.transaction(async (tx) => {
    await lockGuides(tx);
    await matchUnmapped(tx);
  });
}

interface Reading {
  payload: ScanPayload;
  work: Work;
  seams: Partial<Reach>;
}

async function read(row: TunerRow, keys: Keys, { payload, work, seams }: Reading): Promise<LiveLineup> {
  const secrets = secretsOf(keys, row);
  if (!secrets) throw new FinalFailure('SEALED', 'No key of this server opens the address of the tuner');
  const place: LineupPlace = {
    kind: row.kind,
    url: secrets.url,
    headers: secrets.headers,
    deviceId: row.device_id ?? undefined,
    object: row.playlist_object ?? undefined,
    userAgent: row.user_agent ?? undefined,
  };
  const reach: Reach = {
    ...{ outbound: liveOutbound(work.config), networks: liveNetworks(work), objects: work.objects, find: findDevice },
    ...seams,
    signal: work.signal,
  };
  if (payload.deep && row.kind === 'hdhomerun') await searchFrequencies(place, reach, work);
  return readLineup(place, reach, READ_MS);
}

interface Writing {
  lineup: LiveLineup;
  work: Work;
  prune: boolean;
}

type Counts = Omit<LastScan, 'at' | 'durationMs'>;

async function write(row: TunerRow, keys: Keys, { lineup, work, prune }: Writing): Promise<Counts> {
  const writer = new SourceWriter(row, keys, work);
  const known = await writer.known();
  const { all, repeated } = matched(lineup.kind, lineup.entries, known);
  const wanted = new Set(chosenOf(lineup.entries, row));
  const chosen = all.filter(({ entry }) => wanted.has(entry));
  await writer.writeAll(chosen);
  const left = all.flatMap(({ entry, source }) => (source && !wanted.has(entry) ? [source.id] : []));
  const seen = chosen.flatMap(({ source }) => (source ? [source.id] : []));
  const missing = await writer.settle({ known: known.map(({ id }) => id), seen, left, prune });
  return {
    found: chosen.length,
    added: writer.added,
    missing,
    drm: chosen.filter(({ entry }) => entry.drm).length,
    skipped: lineup.skipped + repeated,
  };
}

interface Finishing {
  lineup: LiveLineup;
  lastScan: LastScan;
  work: Work;
}

async function finish(row: TunerRow, keys: Keys, { lineup, lastScan, work }: Finishing): Promise<void> {
  const { device, slotCount, guide } = lineup;
  await updateTunerRow(work.db, row.id, {
    ...{ state: 'ready', state_reason: null, last_scan: lastScan },
    next_scan_at: new Date(Date.now() + row.refresh_hours * HOUR_MS),
    own_guide: guide === undefined ? null : sealOwnGuide(keys, row.id, guide),
    ...(device && { device }),
    ...(slotCount !== undefined && !row.own_slots && { slot_count: slotCount }),
  });
}

async function fail(row: TunerRow, { db, log }: Work, error: Error): Promise<void> {
  const { state, reason } = faultOf(error);
  log.warn({ tuner: row.id, reason }, 'a tuner was not scanned');
  await updateTunerRow(db, row.id, { state, state_reason: reason, next_scan_at: new Date(Date.now() + AGAIN_MS) });
}

function faultOf(error: Error): { state: 'unreachable' | 'failed'; reason: string } {
  if (error instanceof NotItsKind) return { state: 'failed', reason: 'not-its-kind' };
  if (error instanceof OutboundRefused && ['address', 'name'].includes(error.reason))
    return { state: 'failed', reason: 'address-not-allowed' };
  if (error instanceof OutboundRefused && error.reason === 'size') return { state: 'failed', reason: 'too-large' };
  if (error instanceof FinalFailure) return { state: 'failed', reason: 'sealed' };
  return { state: 'unreachable', reason: 'no-answer' };
}

/** A failure that a retry cannot fix ends the job; others are tried again. */
function wordsOf(error: Error): Error {
  const { reason, state } = faultOf(error);
  return state === 'failed' ? new FinalFailure('TUNER', reason) : error;
}
