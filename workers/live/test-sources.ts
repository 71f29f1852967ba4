// Tests sources of a channel on free slots.

import type { LiveTest } from '#areas/live-tv/public.ts';
import { liveNetworks, type SourceRow, secretsOf, streamOf, type TunerRow } from '#areas/live-tv/public.ts';
import type { Db } from '#platform/db.ts';
import { type Keys, ringOf } from '#platform/keys.ts';
import { lockArbitration } from '#platform/live/streams.store.ts';
import { OutboundRefused } from '#platform/outbound.ts';
import { rowsOf } from '#platform/rows.ts';
import type { Work } from '../work.ts';
import { probeBytes } from './probe-bytes.ts';
import { readStream, type StreamRead, type StreamRequest } from './read-stream.ts';
import { type FaultReason, tunerFault } from './tuner-faults.ts';

const ANSWER_MS = 10_000;
const MORE_MS = 20_000;
const ALL_MS = 60_000;

/** The results by source, or busy when no tuner had a free slot. */
export async function testSources(
  { sourceIds, seconds }: { sourceIds: readonly string[]; seconds: number },
  work: Work,
): Promise<{ busy: boolean; results: LiveTest[] }> {
  const { db } = work;
  const keys = await ringOf(work.config.keysFile);
  const end = Date.now() + ALL_MS;
  const results: LiveTest[] = [];
  for (const id of sourceIds) {
    if (Date.now() + seconds * 1000 > end) break;
    const source = await db('live_sources').where({ id }).first();
    const tuner = source && (await db('live_tuners').where({ id: source.tuner_id }).first());
    if (!source || !tuner?.enabled || !(await holdSlot(db, tuner.id, seconds))) continue;
    try {
      const result = await testOne({ source, tuner, keys, seconds, work });
      await db('live_sources')
        .where({ id })
        .update({ last_test: JSON.stringify(result) as never });
      results.push(result);
    } finally {
      await db('live_tuners').where({ id: tuner.id }).update({ tested_until: null });
    }
  }
  return { busy: results.length === 0, results };
}

/** True when a slot is free, which it holds for the time of the test. One test of a tuner at a time. */
async function holdSlot(db: Db, tunerId: string, seconds: number): Promise<boolean> {
  const rows = await db.transaction(async (tx) => {
    await lockArbitration(tx);
    return rowsOf(
      tx,
      `update live_tuners t set tested_until = now() + make_interval(secs => ?)
     where t.id = ? and (t.tested_until is null or t.tested_until < now())
       and (select count(*) from live_streams s where s.tuner_id = t.id and s.ended_at is null) < t.slot_count returning t.id`,
      [seconds + MORE_MS / 1000, tunerId],
    );
  });
  return rows.length > 0;
}

interface Testing {
  source: SourceRow;
  tuner: TunerRow;
  keys: Keys;
  seconds: number;
  work: Work;
}

async function testOne(testing: Testing): Promise<LiveTest> {
  const at = new Date().toISOString();
  try {
    return { ...(await measured(testing)), at };
  } catch (error) {
    const closed = error instanceof OutboundRefused;
    const reason: FaultReason = closed ? 'address-not-allowed' : 'no-answer';
    return failed(at, reason, closed ? error.message : 'The stream did not begin');
  }
}

const failed = (at: string, reason: FaultReason, message: string): LiveTest => ({
  ...{ at, ok: false, audioCodecs: [], error: { reason, message } },
});

const MESSAGES: Record<FaultReason, string> = {
  'tuners-busy': 'Others use all tuners of the device',
  'no-signal': 'The device receives no signal',
  drm: 'The channel is encrypted',
  refused: 'The address refuses the stream',
  'no-answer': 'The stream did not begin',
  'address-not-allowed': 'The address is not reached from here',
  'no-media': 'It is no stream of pictures or sound',
};

function requestTo({ tuner, keys, seconds, work }: Testing): StreamRequest {
  const { headers } = secretsOf(keys, tuner) ?? {};
  return {
    headers: { ...(tuner.user_agent && { 'user-agent': tuner.user_agent }), ...headers },
    setting: { deny: [...work.config.clusterNetworks, ...work.config.apiServerNetworks] },
    networks: liveNetworks(work),
    ...{ answerMs: ANSWER_MS, readMs: seconds * 1000, signal: work.signal },
  };
}

async function measured(testing: Testing): Promise<Omit<LiveTest, 'at'>> {
  const address = streamOf(testing.keys, testing.source);
  if (address === undefined) throw new Error('no key opens the address');
  const request = requestTo(testing);
  const read = await readStream(address, request);
  const fault = tunerFault(read.status, read.responseHeaders);
  if (fault) return failed('', fault, MESSAGES[fault]);
  const { firstByteMs } = read;
  const piece = isList(read) ? await pieceOf(read, request) : read;
  const found = piece && (await probeBytes(piece.bytes, testing.work.signal));
  if (!piece || !found) return { ...failed('', 'no-media', MESSAGES['no-media']), firstByteMs };
  const bitrate = Math.round((piece.bytes.length * 8000) / Math.max(1, piece.readMs));
  return { ok: true, firstByteMs, ...found, ...(piece === read && { bitrate }) };
}

const isList = ({ bytes }: StreamRead): boolean => bytes.toString('latin1', 0, 7) === '#EXTM3U';

/** The first segment of an HLS list, or of the first list that it names; undefined for an encrypted or empty one. */
async function pieceOf(list: StreamRead, request: StreamRequest, depth = 0): Promise<StreamRead | undefined> {
  const lines = list.bytes
    .toString('utf8', 0, 1 << 20)
    .split('\n', 5000)
    .map((line) => line.trim());
  if (lines.some((line) => line.startsWith('#EXT-X-KEY:') && !line.includes('METHOD=NONE'))) return undefined;
  const next = lines.find((line) => line !== '' && !line.startsWith('#'));
  if (next === undefined || depth > 1) return undefined;
  const address = new URL(next, list.url);
  const sent = address.origin === new URL(list.url).origin ? request : { ...request, headers: {} };
  const read = await readStream(address.href, sent);
  if (tunerFault(read.status, read.responseHeaders)) return undefined;
  if (isList(read)) return pieceOf(read, sent, depth + 1);
  const map = lines.map((line) => /^#EXT-X-MAP:.*URI="([^"]+)"/.exec(line)?.[1]).find((uri) => uri !== undefined);
  if (map === undefined) return read;
  const init = await readStream(new URL(map, address).href, { ...sent, headers: {} });
  return { ...read, bytes: Buffer.concat([init.bytes, read.bytes]) };
}
